-- ARGV[5], [6]: requests and tokens; ARGV[7]: the run id that the caller saw last, or nothing.
-- Gives back what happened, two figures about it, the time, and the run id:
--   1 granted: the name of the lease; 2 wait: how long, and for what; 3 lost: how long until the state is trusted.
local amount, run = { tonumber(ARGV[5]), tonumber(ARGV[6]) }, note_run(ARGV[7])
if head_changed then
  save_head()
end
if head.lost > now then
  return { 3, head.lost - now, 0, now, run }
end
local at, reason = free_at(amount)
if at then
  return { 2, at - now, reason, now, run }
end
return { 1, admit(amount), 0, now, run }
