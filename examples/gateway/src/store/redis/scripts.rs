//! The Lua scripts. Each is one atomic step on the keys of a thread or a run.
use redis::Script;

/// The scripts, hashed once.
pub(super) struct Scripts {
    pub(super) lives: Script,
    pub(super) take: Script,
    pub(super) restore: Script,
    pub(super) release: Script,
    pub(super) begin: Script,
    pub(super) append: Script,
    pub(super) read: Script,
    pub(super) end: Script,
    pub(super) cancel: Script,
    pub(super) complete: Script,
    pub(super) unlink: Script,
}

impl Scripts {
    pub(super) fn new() -> Self {
        Self {
            lives: Script::new(&[LIVES, IS_ALIVE].concat()),
            take: Script::new(&[LIVES, TAKE].concat()),
            restore: Script::new(RESTORE),
            release: Script::new(RELEASE),
            begin: Script::new(BEGIN),
            append: Script::new(APPEND),
            read: Script::new(READ),
            end: Script::new(END),
            cancel: Script::new(CANCEL),
            complete: Script::new(COMPLETE),
            unlink: Script::new(UNLINK),
        }
    }
}

/// Returns whether an owner is alive. In a store that was found empty every owner counts as alive
/// for a while.
///
/// `ARGV`: the prefix of all keys, the time during which an empty store counts as new.
const LIVES: &str = r"
local function lives(owner)
    if redis.call('SETNX', ARGV[1] .. ':known', 1) == 1 then
        redis.call('SET', ARGV[1] .. ':young', 1, 'PX', ARGV[2])
    end
    return redis.call('EXISTS', ARGV[1] .. ':alive:' .. owner, ARGV[1] .. ':young') > 0
end
";

const IS_ALIVE: &str = "return lives(ARGV[3])";

/// `KEYS`: the thread, the last lease's number. `ARGV`: as above; the owner, the lifetime of the
/// lease.
const TAKE: &str = r"
local held = redis.call('GET', KEYS[1])
if held then
    local owner = string.match(held, '^%d+ (.*)$')
    if owner == ARGV[3] or lives(owner) then
        redis.call('PEXPIRE', KEYS[1], ARGV[4])
        return held
    end
end
local mine = redis.call('INCR', KEYS[2]) .. ' ' .. ARGV[3]
redis.call('SET', KEYS[1], mine, 'PX', ARGV[4])
return mine
";

/// `KEYS`: the thread, the last lease's number. `ARGV`: the lease, its number, its lifetime.
const RESTORE: &str = r"
local held = redis.call('GET', KEYS[1])
if held then return held == ARGV[1] end
if tonumber(redis.call('GET', KEYS[2]) or 0) < tonumber(ARGV[2]) then redis.call('SET', KEYS[2], ARGV[2]) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
return true
";

/// `KEYS`: the thread. `ARGV`: the lease.
const RELEASE: &str = r"
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
";

/// `KEYS`: the run, its events, the compacted events, the channel, the last run of the thread, the
/// run that it waits for. `ARGV`: the run, the record, its lifetime, the lifetime of the last run's
/// name, the run that it waits for or nothing.
const BEGIN: &str = r"
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('DEL', KEYS[2], KEYS[3])
redis.call('HSET', KEYS[1], 'record', ARGV[2], 'last', 0, 'folded', 0)
if ARGV[5] ~= '' then
    redis.call('HSET', KEYS[1], 'follows', ARGV[5])
    if redis.call('EXISTS', KEYS[6]) == 1 then redis.call('HSET', KEYS[6], 'next', ARGV[1]) end
end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('SET', KEYS[5], ARGV[1], 'PX', ARGV[4])
return 1
";

/// `KEYS`: the run. `ARGV`: the reason.
const CANCEL: &str = r"
if redis.call('EXISTS', KEYS[1]) == 1 then redis.call('HSET', KEYS[1], 'cancel', ARGV[1]) end
";

/// `KEYS`: the run. `ARGV`: its record, with the messages before it.
const COMPLETE: &str = r"
if redis.call('EXISTS', KEYS[1]) == 0 then return end
redis.call('HSET', KEYS[1], 'record', ARGV[1])
redis.call('HDEL', KEYS[1], 'follows')
";

/// `KEYS`: the last run of the thread, the run before, the run after. `ARGV`: the run, the run
/// before or nothing, the run after or nothing.
const UNLINK: &str = r"
if redis.call('GET', KEYS[1]) == ARGV[1] then
    if ARGV[2] == '' then redis.call('DEL', KEYS[1])
    else redis.call('SET', KEYS[1], ARGV[2], 'KEEPTTL') end
end
if ARGV[2] ~= '' and redis.call('EXISTS', KEYS[2]) == 1 then
    if ARGV[3] == '' then redis.call('HDEL', KEYS[2], 'next')
    else redis.call('HSET', KEYS[2], 'next', ARGV[3]) end
end
if ARGV[2] ~= '' and ARGV[3] ~= '' and redis.call('EXISTS', KEYS[3]) == 1 then
    redis.call('HSET', KEYS[3], 'follows', ARGV[2])
end
";

/// `KEYS`: the run, its events, the compacted events; the channel that announces events. `ARGV`:
/// the run, its lifetime, whether it has ended, the number of compacted events and of their frames,
/// these frames; the number before the others, the other frames. Returns -1 for an unknown run, 0
/// for an ended one, otherwise 1.
const APPEND: &str = r"
if redis.call('EXISTS', KEYS[1]) == 0 then return -1 end
if redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
local last = tonumber(redis.call('HGET', KEYS[1], 'last'))
local next = 6 + tonumber(ARGV[5])
local folded = tonumber(ARGV[4])
if folded > tonumber(redis.call('HGET', KEYS[1], 'folded')) then
    redis.call('DEL', KEYS[3])
    for i = 6, next - 1 do redis.call('RPUSH', KEYS[3], ARGV[i]) end
    redis.call('HSET', KEYS[1], 'folded', folded)
    redis.call('XTRIM', KEYS[2], 'MINID', (folded + 1) .. '-0')
    if last < folded then last = folded end
end
local number = tonumber(ARGV[next])
for i = next + 1, #ARGV do
    number = number + 1
    if number > last then
        redis.call('XADD', KEYS[2], number .. '-0', 'f', ARGV[i])
        last = number
    end
end
redis.call('HSET', KEYS[1], 'last', last)
if ARGV[3] == '1' then redis.call('HSET', KEYS[1], 'ended', 1) end
for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], ARGV[2]) end
redis.call('PUBLISH', KEYS[4], ARGV[1])
return 1
";

/// `KEYS`: the run, its events, the compacted events. `ARGV`: the number of the event before, the
/// largest number of events. Returns the number of compacted events, these, the number before the
/// others, these, and whether the read is complete.
const READ: &str = r"
local run = redis.call('HMGET', KEYS[1], 'last', 'folded', 'ended')
if not run[1] then return false end
local after, folded, old = tonumber(ARGV[1]), tonumber(run[2]), {}
if after < folded then
    old = redis.call('LRANGE', KEYS[3], 0, -1)
    after = folded
else
    folded = 0
end
local entries = redis.call('XRANGE', KEYS[2], (after + 1) .. '-0', '+', 'COUNT', ARGV[2])
local frames = {}
for i, entry in ipairs(entries) do frames[i] = entry[2][2] end
local has_ended = 0
if run[3] and after + #frames == tonumber(run[1]) then has_ended = 1 end
return {folded, old, after, frames, has_ended}
";

/// `KEYS`: as for an append. `ARGV`: the run, the required number of the last event, the event.
/// Returns whether the run was ended.
const END: &str = r"
if redis.call('HGET', KEYS[1], 'last') ~= ARGV[2] or redis.call('HEXISTS', KEYS[1], 'ended') == 1 then return 0 end
local number = tonumber(ARGV[2]) + 1
redis.call('XADD', KEYS[2], number .. '-0', 'f', ARGV[3])
redis.call('HSET', KEYS[1], 'last', number, 'ended', 1)
redis.call('PEXPIRE', KEYS[2], redis.call('PTTL', KEYS[1]))
redis.call('PUBLISH', KEYS[4], ARGV[1])
return 1
";
