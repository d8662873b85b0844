-- ARGV[5]: the lease; [6], [7]: requests and tokens reserved; [8], [9]: used; [10]: silence asked for;
-- [11], [12]: requests left and for how long; [13], [14]: the same of tokens (-1 left: nothing was said);
-- [15]: the run id that the caller saw last, or nothing.
local function argument(place)
  return tonumber(ARGV[place])
end
for place, bucket in ipairs(buckets) do
  if bucket[1] == argument(5) then
    for which = 1, 2 do
      local counts = math.max(bucket[2 + which] - argument(5 + which), 0) + argument(7 + which)
      used[which] = used[which] - bucket[2 + which] + counts
      redis.call('LSET', KEYS[1], 4 * place - 3 + which, text_of(counts))
    end
    break
  end
end
local silence = math.min(argument(10), LONGEST_SILENCE)
head_changed = head_changed or silence > 0
head.closed = math.max(head.closed, silence > 0 and now + silence or 0)
for which = 1, 2 do
  local left, lasts = argument(9 + 2 * which), argument(10 + 2 * which)
  if left >= 0 and limits[which] >= 0 then
    local held = math.max(math.max(limits[which] - used[which], 0) - left, 0)
    head_changed = head_changed or held > 0 or head.held[which] > 0
    head.held[which], head.held_until[which] = held, now + math.min(lasts, window)
  end
end
if head_changed then
  note_run(ARGV[15])
  save_head()
end
return 1
