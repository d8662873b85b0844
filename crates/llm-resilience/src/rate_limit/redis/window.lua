-- The sliding window of window.rs, on two keys of one budget:
--   KEYS[1]  a list: began, last, requests, tokens of each sub-bucket, oldest first
--   KEYS[2]  a text: run id, known since, lost until, closed until, requests held, until, tokens held, until
-- Times are microseconds, everything but the run id is a whole number. What cannot have been written here is absent.
-- ARGV: now (0: the server's own time), window, request limit, token limit (-1: none), then what each script needs.
local SUB_BUCKETS, FULL_PARTS, IDLE_PARTS = 60, 100, 4
local MOST_WHEN_IDLE, MOST_WHEN_FULL, MOST_SUB_BUCKETS = 160, 300, 380
local LONGEST_SILENCE = 3600000000

-- The number that a text is, or nothing.
local function whole(text)
  if #text <= 16 and string.match(text, '^%d+$') then
    return tonumber(text)
  end
end

local function text_of(number)
  return string.format('%.0f', number)
end

local window, limits = tonumber(ARGV[2]), { tonumber(ARGV[3]), tonumber(ARGV[4]) }
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000000 + time[2]
end

-- State: buckets { began, last, requests, tokens }, used { requests, tokens }, and the head.
local buckets, used = {}, { 0, 0 }
local head = { run = nil, since = 0, lost = 0, closed = 0, held = { 0, 0 }, held_until = { 0, 0 } }
local head_changed = false

local function forget()
  redis.call('DEL', KEYS[1])
  buckets = {}
end

local function load_buckets()
  local raw = redis.pcall('LRANGE', KEYS[1], 0, 4 * MOST_SUB_BUCKETS)
  if raw.err or #raw % 4 ~= 0 then
    return forget()
  end
  local began, last = -1, -1
  for place = 1, #raw, 4 do
    local bucket = {}
    for field = 1, 4 do
      bucket[field] = whole(raw[place + field - 1])
      if not bucket[field] then
        return forget()
      end
    end
    if bucket[1] <= began or bucket[2] < last then
      return forget()
    end
    began, last = bucket[1], bucket[2]
    buckets[#buckets + 1] = bucket
  end
end

local function load_head()
  local raw = redis.pcall('GET', KEYS[2])
  if type(raw) ~= 'string' or #raw > 200 then
    return
  end
  local run, rest = string.match(raw, '^(%x+)( [%d ]+)$')
  local numbers = {}
  for number in string.gmatch(rest or '', '%d+') do
    -- One that is none leaves too few of them.
    numbers[#numbers + 1] = whole(number)
  end
  if run and #numbers == 7 then
    head = {
      run = run,
      since = numbers[1],
      lost = numbers[2],
      closed = numbers[3],
      held = { numbers[4], numbers[6] },
      held_until = { numbers[5], numbers[7] },
    }
  end
end

-- Drops what has left the window, here and in the store.
local function advance()
  local newest = buckets[#buckets]
  if newest and newest[2] > now + window then
    forget()
    head.closed, head.held, head.held_until = 0, { 0, 0 }, { 0, 0 }
    head_changed = true
  elseif newest and newest[2] > now then
    now = newest[2]
  end
  local gone, kept = 0, {}
  for _, bucket in ipairs(buckets) do
    if #kept == 0 and bucket[2] + window <= now then
      gone = gone + 1
    else
      kept[#kept + 1] = bucket
      used = { used[1] + bucket[3], used[2] + bucket[4] }
    end
  end
  if gone > 0 then
    redis.call('LTRIM', KEYS[1], 4 * gone, -1)
  end
  buckets = kept
  local function is_over(time, longest)
    local over = time > 0 and (time <= now or time > now + longest)
    head_changed = head_changed or over
    return over
  end
  if is_over(head.closed, LONGEST_SILENCE) then
    head.closed = 0
  end
  if is_over(head.lost, window) then
    head.lost = 0
  end
  for which = 1, 2 do
    if is_over(head.held_until[which], window) then
      head.held[which], head.held_until[which] = 0, 0
    end
  end
end

-- When so much will have left the window.
local function gone_at(over, which)
  local held, held_until = head.held[which], head.held_until[which]
  for _, bucket in ipairs(buckets) do
    local at = bucket[2] + window
    if held > 0 and held_until <= at then
      over = over - held
      if over <= 0 then
        return held_until
      end
      held = 0
    end
    over = over - bucket[2 + which]
    if over <= 0 then
      return at
    end
  end
  return held > 0 and held_until or now + window
end

-- When there is room, and what is waited for: 1 requests, 2 tokens, 3 the vendor; nothing: now.
local function free_at(amount)
  local latest, reason
  if head.closed > now then
    latest, reason = head.closed, 3
  end
  for which = 1, 2 do
    local over = used[which] + amount[which] + head.held[which] - limits[which]
    if limits[which] >= 0 and over > 0 then
      local at = gone_at(over, which)
      if not latest or latest < at then
        latest, reason = at, which
      end
    end
  end
  return latest, reason
end

local function expire()
  local time = math.max(2 * window, head.closed - now + window, 1000)
  redis.call('PEXPIRE', KEYS[1], math.ceil(time / 1000))
  redis.call('PEXPIRE', KEYS[2], math.ceil(time / 1000))
end

local function save_head()
  local numbers = {
    head.since, head.lost, head.closed, head.held[1], head.held_until[1], head.held[2], head.held_until[2],
  }
  for place, number in ipairs(numbers) do
    numbers[place] = text_of(number)
  end
  redis.call('SET', KEYS[2], head.run .. ' ' .. table.concat(numbers, ' '))
  expire()
end

local function goes_on(bucket)
  if bucket[2] == now then
    return true
  end
  local full = false
  for which = 1, 2 do
    full = full or (limits[which] >= 0 and bucket[2 + which] * FULL_PARTS >= limits[which])
  end
  local lasts = math.floor(window / SUB_BUCKETS)
  local over = now >= bucket[1] + lasts
  local idle = now >= bucket[2] + math.floor(lasts / IDLE_PARTS)
  return not over and not ((full and #buckets < MOST_WHEN_FULL) or (idle and #buckets < MOST_WHEN_IDLE))
end

-- Counts a call and gives back the name of its sub-bucket.
local function admit(amount)
  local newest = buckets[#buckets]
  if newest and goes_on(newest) then
    redis.call('LSET', KEYS[1], -3, text_of(now))
    redis.call('LSET', KEYS[1], -2, text_of(newest[3] + amount[1]))
    redis.call('LSET', KEYS[1], -1, text_of(newest[4] + amount[2]))
    return newest[1]
  end
  local began = newest and math.max(now, newest[1] + 1) or now
  redis.call('RPUSH', KEYS[1], text_of(began), text_of(now), text_of(amount[1]), text_of(amount[2]))
  expire()
  return began
end

-- Notes which server process counts, and what it may have lost: what another one counted, by the state that is left or
-- by the run id that the caller saw last. Before every save, so that whoever comes first cannot hide it.
local function note_run(seen)
  local run = run_id()
  local before = head.run or (seen ~= '' and seen) or run
  local lost = 0
  if before ~= run then
    lost = now + window
  elseif seen ~= '' and seen ~= run then
    -- Who came first after the change knew of nothing.
    lost = head.since + window
  end
  if head.run ~= run then
    head.run, head.since, head_changed = run, now, true
  end
  if lost > math.max(head.lost, now) then
    head.lost, head_changed = math.min(lost, now + window), true
  end
  return run
end

load_buckets()
load_head()
advance()
