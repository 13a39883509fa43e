PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE thread (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL,
    agent TEXT NOT NULL,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    title_by INTEGER NOT NULL,
    text TEXT NOT NULL,
    created INTEGER NOT NULL,
    updated INTEGER NOT NULL
);
CREATE INDEX thread_of_user ON thread (user, updated, number);
CREATE INDEX thread_by_age ON thread (updated);
CREATE TABLE run (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    thread TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    folded INTEGER NOT NULL DEFAULT 0,
    last INTEGER NOT NULL DEFAULT 0,
    ended INTEGER NOT NULL DEFAULT 0,
    retired INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX run_of_thread ON run (thread, number);
CREATE TABLE frame (
    run INTEGER NOT NULL,
    number INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (run, number)
) WITHOUT ROWID;
CREATE TABLE folded (
    run INTEGER NOT NULL,
    place INTEGER NOT NULL,
    bytes BLOB NOT NULL,
    PRIMARY KEY (run, place)
) WITHOUT ROWID;
CREATE TABLE note (
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    text TEXT NOT NULL,
    updated INTEGER NOT NULL,
    PRIMARY KEY (kind, key)
) WITHOUT ROWID;
PRAGMA application_id = 1399873902;
PRAGMA user_version = 1;
INSERT INTO thread VALUES (1, '["u","coder","a"]', 'u', 'coder', 'a', 'Fix it', 0, 'fix it
fix it
It was a race.', 1700000000000, 1700000001000);
INSERT INTO thread VALUES (2, '["u","coder","b"]', 'u', 'coder', 'b', 'Hi', 0, 'hi
hi', 1700000100000, 1700000101000);
INSERT INTO run VALUES (1, '1', '["u","coder","a"]', 'r', '{"thread":"[\"u\",\"coder\",\"a\"]","owner":"0","fingerprint":0,"input":{"threadId":"a","runId":"r","messages":[{"id":"m","role":"user","content":"Fix it"}]}}', 0, 2, 1, 1);
INSERT INTO run VALUES (2, '2', '["u","coder","b"]', 'r', '{"thread":"[\"u\",\"coder\",\"b\"]","owner":"0","fingerprint":0,"input":{"threadId":"b","runId":"r","messages":[{"id":"m","role":"user","content":"Hi"}]}}', 0, 2, 1, 1);
INSERT INTO frame VALUES (1, 1, CAST('data: {"type":"RUN_STARTED","threadId":"a","runId":"r"}

' AS BLOB)), (1, 2, CAST('data: {"type":"RUN_FINISHED","threadId":"a","runId":"r"}

' AS BLOB)), (2, 1, CAST('data: {"type":"RUN_STARTED","threadId":"b","runId":"r"}

' AS BLOB)), (2, 2, CAST('data: {"type":"RUN_FINISHED","threadId":"b","runId":"r"}

' AS BLOB));
INSERT INTO note VALUES ('session', '["u","coder","a"]', 'session', 1700000001000);
