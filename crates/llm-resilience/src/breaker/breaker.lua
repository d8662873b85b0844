-- One decision of a breaker. The same algorithm as state.rs and decision.rs beside it, statement by statement; a test
-- plays random histories through both. Change one, change the other.
--
-- KEYS    the records of vendor, credential, model, credential and model
-- ARGV    now in ms (0: the server's own time), chance from 0 to 1000, the ten rules, then
--         1, id:                                     may a call pass?
--         3, id:                                     may a call pass, whose credential was set up anew?
--         2, four times (generation, probe, outcome, shut ms, reason, growing): a call has ended
-- returns passed, then four times (generation, probe, state, ms left, reason)

local CLOSED, OPEN, HALF_OPEN = 0, 1, 2
local SUCCESS, FAILURE, RELIEF = 1, 2, 3
local HEALTH, CREDENTIAL, LAST_REASON = 1, 4, 5
local MOST = 9007199254740991
local VERSION, SLICES, HEAD, MOST_PROBES = 1, 10, 41, 100
local PROBE_PATIENCE_MS = 1000
local MOST_BYTES = 8192

local function argument(place)
  return tonumber(ARGV[place])
end

local now = argument(1)
if now == 0 then
  now = server_now()
end
local random = argument(2)
local rules = {
  failures = argument(3), failure_percent = argument(4), min_requests = argument(5), slice_ms = argument(6),
  open_ms = argument(7), longest_open_ms = argument(8), jitter_percent = argument(9), probes = argument(10),
  lease_ms = argument(11), longest_shut_ms = argument(12),
}

local function blank()
  local window = {}
  for place = 1, SLICES * 3 do
    window[place] = 0
  end
  return {
    state = CLOSED, generation = 0, in_a_row = 0, openings = 0, until_ = 0, closed_at = 0, successes = 0,
    shut_until = 0, shut_reason = 0, shut_repeats = 0, window = window, probes = {},
  }
end

local function encode(record)
  local numbers = {
    VERSION, record.state, record.generation, record.in_a_row, record.openings, record.until_, record.closed_at,
    record.successes, record.shut_until, record.shut_reason, record.shut_repeats,
  }
  for _, number in ipairs(record.window) do
    numbers[#numbers + 1] = number
  end
  for _, probe in ipairs(record.probes) do
    numbers[#numbers + 1] = probe[1]
    numbers[#numbers + 1] = probe[2]
  end
  for place, number in ipairs(numbers) do
    numbers[place] = string.format('%.0f', number)
  end
  return '[' .. table.concat(numbers, ',') .. ']'
end

local BLANK = encode(blank())

-- Whatever is not a record of ours reads as absent.
local function decode(text)
  if type(text) ~= 'string' or #text > MOST_BYTES then
    return nil
  end
  local read, numbers = pcall(cjson.decode, text)
  if not read or type(numbers) ~= 'table' or #numbers < HEAD then
    return nil
  end
  for place = 1, #numbers do
    local number = numbers[place]
    if type(number) ~= 'number' or not (number >= 0 and number <= MOST) or number % 1 ~= 0 then
      return nil
    end
  end
  local probes = #numbers - HEAD
  if numbers[1] ~= VERSION or numbers[2] > HALF_OPEN or numbers[10] > LAST_REASON
    or probes % 2 ~= 0 or probes > 2 * MOST_PROBES then
    return nil
  end
  local record = {
    state = numbers[2], generation = numbers[3], in_a_row = numbers[4], openings = numbers[5],
    until_ = numbers[6], closed_at = numbers[7], successes = numbers[8], shut_until = numbers[9],
    shut_reason = numbers[10], shut_repeats = numbers[11], window = {}, probes = {},
  }
  for place = 1, SLICES * 3 do
    record.window[place] = numbers[11 + place]
  end
  for place = HEAD + 1, #numbers, 2 do
    record.probes[#record.probes + 1] = {numbers[place], numbers[place + 1]}
  end
  local longest = now + math.max(rules.longest_shut_ms, 2 * rules.longest_open_ms) + 60000
  if record.until_ > longest or record.shut_until > longest then
    return nil
  end
  return record
end

-- window.rs

local function note(record, failed)
  local number = math.floor(now / rules.slice_ms)
  local window, place = record.window, (number % SLICES) * 3 + 1
  if window[place] < number then
    window[place], window[place + 1], window[place + 2] = number, 0, 0
  end
  window[place + 1] = window[place + 1] + 1
  if failed then
    window[place + 2] = window[place + 2] + 1
  end
end

local function totals(record)
  local oldest = math.max(math.floor(now / rules.slice_ms) - (SLICES - 1), 0)
  local calls, failures = 0, 0
  for place = 1, SLICES * 3, 3 do
    if record.window[place] >= oldest then
      calls = calls + record.window[place + 1]
      failures = failures + record.window[place + 2]
    end
  end
  return calls, failures
end

-- state.rs

local PASS, PROBE, SHUT = 0, 1, 2

local function gate(record, id)
  local gate, until_, reason = PASS, 0, 0
  if record.state == OPEN then
    if record.until_ > now then
      gate, until_, reason = SHUT, record.until_, HEALTH
    else
      gate = PROBE
    end
  elseif record.state == HALF_OPEN then
    local out, first_back = 0, nil
    for _, probe in ipairs(record.probes) do
      if probe[1] ~= id and probe[2] > now then
        out = out + 1
        first_back = math.min(first_back or probe[2], probe[2])
      end
    end
    if out < rules.probes then
      gate = PROBE
    else
      gate, until_, reason = SHUT, math.min(first_back, now + PROBE_PATIENCE_MS), HEALTH
    end
  end
  if gate == SHUT and until_ >= record.shut_until then
    return gate, until_, reason
  elseif record.shut_until > now then
    return SHUT, record.shut_until, record.shut_reason
  end
  return gate, until_, reason
end

local function turn(record, state)
  record.state = state
  record.generation = record.generation + 1
  record.in_a_row = 0
  record.successes = 0
  record.probes = {}
end

local function keep_probes(record, keeps)
  local kept = {}
  for _, probe in ipairs(record.probes) do
    if keeps(probe) then
      kept[#kept + 1] = probe
    end
  end
  record.probes = kept
end

local function take_probe(record, id)
  if record.state == OPEN then
    turn(record, HALF_OPEN)
  end
  keep_probes(record, function(probe) return probe[1] ~= id and probe[2] > now end)
  record.probes[#record.probes + 1] = {id, now + rules.lease_ms}
end

local function readmit(record)
  if record.shut_reason == CREDENTIAL then
    record.shut_until, record.shut_reason = 0, 0
  end
end

local function doubled(first, times, longest)
  local ms = first
  for _ = 1, math.min(math.max(times - 1, 0), 40) do
    if ms >= longest then
      return longest
    end
    ms = ms * 2
  end
  return math.min(ms, longest)
end

local function cool_down(record, shut_ms, reason)
  local in_a_row = record.in_a_row
  turn(record, CLOSED)
  record.in_a_row = in_a_row
  record.window = blank().window
  if shut_ms then
    record.shut_until, record.shut_reason = now + math.min(shut_ms, rules.longest_shut_ms), reason
  else
    record.shut_until, record.shut_reason = now + rules.open_ms, HEALTH
  end
end

local function open(record, shut_ms, reason)
  if rules.probes == 0 then
    return cool_down(record, shut_ms, reason)
  end
  local calm = math.max(now - record.closed_at, 0) >= rules.longest_open_ms
  if record.state == CLOSED and calm then
    record.openings = 0
  end
  record.openings = record.openings + 1
  local grown = doubled(rules.open_ms, record.openings, rules.longest_open_ms)
  local open_ms = grown
  if shut_ms then
    open_ms = math.min(shut_ms, rules.longest_shut_ms)
  elseif record.openings > 1 then
    open_ms = grown + math.floor(grown * rules.jitter_percent * random / 100000)
  end
  record.until_ = now + open_ms
  turn(record, OPEN)
end

local function is_ill(record)
  local calls, failures = totals(record)
  return record.in_a_row >= rules.failures
    or (calls >= rules.min_requests and failures * 100 >= calls * rules.failure_percent)
end

local function shut(record, ms, reason, growing)
  if growing then
    if record.shut_until > now then
      return
    end
    record.shut_repeats = record.shut_repeats + 1
    ms = doubled(ms, record.shut_repeats, rules.longest_shut_ms)
  else
    ms = math.min(ms, rules.longest_shut_ms)
  end
  if now + ms > record.shut_until then
    record.shut_until = now + ms
    record.shut_reason = reason
  end
end

local function settle(record, generation, probe, outcome, shut_ms, reason, growing)
  local good = outcome == SUCCESS or outcome == RELIEF
  if outcome == RELIEF and encode(record) == BLANK then
    return
  end
  local places = #record.probes
  keep_probes(record, function(other) return other[1] ~= probe end)
  local gave_back = #record.probes < places
  if generation == record.generation then
    if record.state == CLOSED then
      if good then
        record.in_a_row = 0
        note(record, false)
      elseif outcome == FAILURE then
        record.in_a_row = record.in_a_row + 1
        note(record, true)
        if is_ill(record) then
          open(record, shut_ms, reason)
        end
      end
    elseif record.state == HALF_OPEN and gave_back then
      if good then
        record.successes = record.successes + 1
        if record.successes >= rules.probes then
          turn(record, CLOSED)
          record.window = blank().window
          record.closed_at = now
        end
      elseif outcome == FAILURE then
        open(record, shut_ms, reason)
      end
    end
  end
  if good then
    record.shut_repeats = 0
  end
  if shut_ms and rules.probes > 0 then
    shut(record, shut_ms, reason, growing)
  end
end

-- Nothing in the record means anything any more by then.
local function keep_for(record)
  local last = math.max(record.until_, record.shut_until, now + SLICES * rules.slice_ms)
  for _, probe in ipairs(record.probes) do
    last = math.max(last, probe[2])
  end
  return string.format('%.0f', last - now + rules.longest_open_ms)
end

-- decision.rs

local records, before = {}, {}
for scope, key in ipairs(KEYS) do
  records[scope] = decode(redis.pcall('GET', key)) or blank()
  before[scope] = encode(records[scope])
end

local reply = {1}
local passes = {}
if argument(13) ~= 2 then
  local id = argument(14)
  if argument(13) == 3 then
    for _, record in ipairs(records) do
      readmit(record)
    end
  end
  local gates = {}
  for scope, record in ipairs(records) do
    gates[scope] = gate(record, id)
    if gates[scope] == SHUT then
      reply[1] = 0
    end
  end
  for scope, record in ipairs(records) do
    passes[scope] = {0, 0}
    if reply[1] == 1 then
      if gates[scope] == PROBE then
        take_probe(record, id)
        passes[scope][2] = id
      end
      passes[scope][1] = record.generation
    end
  end
else
  for scope, record in ipairs(records) do
    local at = 14 + (scope - 1) * 6
    local reason = argument(at + 4)
    local shut_ms = reason > 0 and argument(at + 3) or nil
    settle(record, argument(at), argument(at + 1), argument(at + 2), shut_ms, reason, argument(at + 5) == 1)
    passes[scope] = {0, 0}
  end
end

for scope, record in ipairs(records) do
  local after = encode(record)
  if after ~= before[scope] then
    redis.call('SET', KEYS[scope], after, 'PX', keep_for(record))
  end
  local found, until_, reason = gate(record, 0)
  local left = found == SHUT and math.max(until_ - now, 0) or 0
  if found ~= SHUT then
    reason = 0
  end
  for _, number in ipairs({passes[scope][1], passes[scope][2], record.state, left, reason}) do
    reply[#reply + 1] = number
  end
end
return reply
