import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { waitUntil } from "../../tests/kit/wait.ts";
import { testRecordStoreContract } from "../store/testing.ts";
import { openTwice } from "../testdata/stores.ts";
import { openPinStore } from "./open_pin_store.ts";
import { PINS } from "./pin_record.ts";
import type { PinStore } from "./open_pin_store.ts";

// promise: A pin store that another user owns or may change is refused.

testRecordStoreContract(
  "sqlite",
  () => openTwice((folder) => openPinStore(`${folder}/pins.db`)),
);

Deno.test("a mistyped URL is not shown in the message, because it may contain a password", async () => {
  for (
    const text of [
      "redis//u:s3cret@h",
      "REDIS://u:s3cret@h",
      "kv:redis://u:s3cret@h",
      "redis:u:s3cret@h",
    ]
  ) {
    const error = await expectSigError(
      () => openPinStore(text),
      "invalid_request",
      "Cannot ",
    );
    assert(!JSON.stringify([error.message, error.context]).includes("s3cret"));
  }
});

Deno.test("a misspelt scheme does not create an empty file, and ./ allows a colon in a name", async () => {
  await using folder = await tempFolder();
  const error = await expectSigError(
    () => openPinStore(`kvv:${folder.path}/pins.db`),
    "invalid_request",
    "Cannot open pin store: it must be a file, kv:PATH, redis://HOST or rediss://HOST",
  );
  assertEquals(
    error.hint,
    "Write ./NAME for a file whose name has a colon.",
  );
  const store = await openPinStore(`${folder.path}/kvv:pins.db`);
  await store.close();
  assertEquals([...Deno.readDirSync(folder.path)].map(({ name }) => name), [
    "kvv:pins.db",
  ]);
});

Deno.test("100 concurrent opens of a new file leave one file with mode 0600", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/my #1 pins?.db`;
  const stores = await Promise.all(
    Array.from({ length: 100 }, () => openPinStore(path)),
  );
  const names = [...Deno.readDirSync(folder.path)].map(({ name }) => name)
    .filter((name) => !/-(wal|shm)$/.test(name));
  assertEquals(names, ["my #1 pins?.db"]);
  assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
  for (const store of stores) await store.close();
});

Deno.test("a file of version 2 loses its lines and no record, also if many processes open it", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/pins.db`;
  const names = ["did:web:a.example", "did:web:b.example"];
  const at = new Date(0);
  const before = await openPinStore(path);
  for (const name of names) {
    const record = { text: `pin of ${name}`, expiresAtMs: null };
    await before.put(PINS, name, record, null, at);
  }
  await before.close();
  const old = new DatabaseSync(path);
  old.exec(`
    CREATE TABLE feed (number INTEGER PRIMARY KEY AUTOINCREMENT, issuer TEXT);
    CREATE TABLE attachment (issuer TEXT PRIMARY KEY, bytes BLOB);
    CREATE TABLE event_1 (sequence INTEGER PRIMARY KEY, line BLOB);
    CREATE INDEX event_1_line ON event_1 (line);
    CREATE TABLE event_12 (sequence INTEGER PRIMARY KEY, line BLOB);
    CREATE TABLE subject_1 (subject TEXT PRIMARY KEY) WITHOUT ROWID;
    INSERT INTO feed (issuer) VALUES ('did:web:a.example');
    PRAGMA user_version = 2;`);
  old.close();
  const stores = await Promise.all(
    Array.from({ length: 8 }, () => openPinStore(path)),
  );
  for (const store of stores) {
    const { records } = await store.list(PINS, at);
    assertEquals(records.map(({ id, text }) => [id, text]), [
      ...names.map((name) => [name, `pin of ${name}`]),
    ]);
    await store.close();
  }
  const file = new DatabaseSync(path);
  const tables = file.prepare(
    "SELECT name FROM sqlite_schema WHERE type='table' AND name NOT LIKE 'sqlite_%'",
  ).all();
  assertEquals(tables.map(({ name }) => name), ["record"]);
  assertEquals(file.prepare("PRAGMA user_version").get()?.user_version, 3);
  file.close();
});

Deno.test("opening waits for a process that begins or removes the file's log", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/pins.db`;
  await (await openPinStore(path)).close();
  const code = `
    import { DatabaseSync } from "node:sqlite";
    const file = new DatabaseSync(${JSON.stringify(path)});
    file.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE");
    postMessage("locked");
    // real time: the opening that waits blocks the process of the test
    setTimeout(() => { file.close(); postMessage("closed"); }, 100);`;
  const worker = new Worker(`data:text/javascript,${encodeURI(code)}`, {
    type: "module",
  });
  const messages: string[] = [];
  worker.onmessage = ({ data }) => messages.push(data);
  await waitUntil("the lock", () => messages.includes("locked"));
  const store = await openPinStore(path);
  assertEquals((await store.list(PINS, new Date(0))).records, []);
  await store.close();
  await waitUntil("the end of the lock", () => messages.includes("closed"));
  worker.terminate();
});

Deno.test("the path of a server's file is shown only to the operator", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/pins.db`;
  const messages: string[] = [];
  const options = {
    shownAs: "of this server",
    tell: (message: string) => messages.push(message),
  };
  // The operator, who starts the server, reads the error of opening.
  await expectSigError(
    () => openPinStore(folder.path, options),
    "store_unavailable",
    `Cannot use store ${folder.path}: it is not a file`,
  );
  const store = await openPinStore(path, options);
  await store.close();
  const work: readonly (() => Promise<unknown>)[] = [
    () => store.get(PINS, "did:web:acme.example", new Date(0)),
    () => store.list(PINS, new Date(0)),
  ];
  for (const each of work) {
    const error = await expectSigError(
      each,
      "store_unavailable",
      "Cannot use store of this server: it is closed",
    );
    assertEquals(error.context.place, "of this server");
    assertEquals(JSON.stringify(error).includes(path), false);
  }
  assertEquals(messages, [`Cannot use store ${path}: it is closed`]);
});

Deno.test("rejects a KV file that any user can write or replace", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/pins.kv`;
  await (await openPinStore(`kv:${path}`)).close();
  await Deno.chmod(path, 0o602);
  const open = () => openPinStore(`kv:${path}`);
  const message = `any user can write the file ${path}`;
  await expectSigError(open, "store_unavailable", message);
  await Deno.chmod(path, 0o600);
  await Deno.chmod(folder.path, 0o777);
  const place = `any user can replace files in the folder ${folder.path}/`;
  await expectSigError(open, "store_unavailable", place);
});

Deno.test("a pin store closes at the end of its scope", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/pins.db`;
  const opened: PinStore[] = [];
  {
    await using pins = await openPinStore(path);
    opened.push(pins);
    assertEquals(await pins.get(PINS, "x", new Date(0)), undefined);
  }
  await expectSigError(
    () => opened[0]!.get(PINS, "x", new Date(0)),
    "store_unavailable",
    "Cannot use store",
  );
});
