local function server_now()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
local function run_id()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
end
