// Pin files that were edited by hand, or restored in part.
import { assert, assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import type { Consumer } from "../consumer.ts";
import { listPins, openPinStore, removePin, showPin } from "../pins.ts";
import type { RecordStore } from "../store/record_store.ts";
import { ALICE, revoke, upsert } from "../../tests/kit/events.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { rememberIssuer } from "../testdata/remembered_issuer.ts";

// promise: A damaged pin store is `store_unavailable`, and never an answer.

const EVENTS = [
  upsert(1, { relationship_id: "r1", subject: ALICE }),
  upsert(2, { relationship_id: "r2", subject: "did:web:bob.example" }),
  revoke(3, { relationship_id: "r2", subject: "did:web:bob.example" }),
];

interface Remembered {
  readonly did: string;
  readonly path: string;
  /** Runs the work as a new process would. */
  open<T>(
    work: (consumer: Consumer, pins: RecordStore) => Promise<T>,
  ): Promise<T>;
  /** Returns the answer of a new process. */
  decide(): Promise<string>;
  /** Changes the closed file. */
  change(sql: string): void;
}

/** An issuer whose pin is in a file, with a cursor. */
async function withRemembered(
  work: (remembered: Remembered) => Promise<void>,
): Promise<void> {
  await using file = await openPinFile();
  const { pins, path } = file;
  await using issuer = await rememberIssuer(0, { pins });
  const { did, fresh } = issuer;
  await issuer.append(...EVENTS);
  await issuer.verify();
  for await (const _ of fresh().watch(did, { once: true })) assert(false);
  await pins.close();
  const open: Remembered["open"] = async (work) => {
    const pins = await openPinStore(path);
    try {
      return await work(fresh({ pins }), pins);
    } finally {
      await pins.close();
    }
  };
  await work({
    ...{ did, path, open },
    decide: () =>
      open(async (consumer) => {
        const question = {
          subject: ALICE,
          require: ["role=deploy"] as const,
        };
        return (await consumer.check(did, question)).decision;
      }),
    change(sql) {
      const database = new DatabaseSync(path);
      try {
        assert(database.prepare(sql).run().changes > 0, sql);
      } finally {
        database.close();
      }
    },
  });
}

Deno.test("a damaged pin is an error until it is removed", () =>
  withRemembered(async ({ decide, change, path, did, open }) => {
    change("UPDATE record SET text=substr(text, 66) WHERE kind='pin'");
    const damaged = [
      "store_unavailable",
      `Cannot use store ${path}: the pin of ${did} is damaged`,
    ] as const;
    const error = await expectSigError(decide, ...damaged);
    assertEquals(error.context.place, path);
    await open(async (_, pins) => {
      await expectSigError(() => showPin(pins, did), ...damaged);
      await removePin(pins, did);
      assertEquals(await listPins(pins), []);
    });
    assertEquals(await decide(), "allow");
  }));

Deno.test("removing an issuer that is not remembered is an error and removes nothing", () =>
  withRemembered(async ({ did, open }) => {
    await open(async (_, pins) => {
      await expectSigError(
        () => removePin(pins, "did:web:other.example"),
        "not_found",
        'Cannot find a pin: "did:web:other.example" is not remembered',
      );
      assertEquals((await listPins(pins)).map(({ issuer }) => issuer), [did]);
    });
  }));

Deno.test("a cursor with the text of another cursor is rejected", () =>
  withRemembered(async ({ did, change, open }) => {
    const watch = (cursor: string, from?: number) =>
      open(async (consumer) => {
        const seen: number[] = [];
        const asked = { once: true, cursor, from };
        for await (const { sequence } of consumer.watch(did, asked)) {
          seen.push(sequence);
          if (cursor === "first") break;
        }
        return seen;
      });
    assertEquals(await watch("second", 2), [2, 3]);
    assertEquals(await watch("first", 1), [1]);
    change(
      "UPDATE record SET text=(SELECT text FROM record WHERE id LIKE 'second:%') WHERE id LIKE 'first:%'",
    );
    await expectSigError(
      () => watch("first"),
      "store_unavailable",
      "the cursor first is damaged",
    );
  }));

Deno.test("a file that another user can write is rejected, with its location", () =>
  withRemembered(async ({ decide, path }) => {
    const refused = (message: string) =>
      expectSigError(
        () => decide(),
        "store_unavailable",
        `Cannot use store ${path}: ${message}`,
      );
    for (const mode of [0o620, 0o602]) {
      Deno.chmodSync(path, mode);
      await refused(`the file ${path} can be written by other users`);
    }
    Deno.chmodSync(path, 0o644);
    const folder = path.replace(/[^/]*$/, "");
    Deno.chmodSync(folder, 0o777);
    await refused(`any user can replace files in the folder ${folder}`);
    // Only owners can replace files in a folder such as /tmp.
    for (const mode of [0o1777, 0o775]) {
      Deno.chmodSync(folder, mode);
      assertEquals(await decide(), "allow");
    }
    // Another user could replace a folder above, or a link on the way.
    const open = `${folder}open/`;
    Deno.mkdirSync(`${open}mine`, { recursive: true, mode: 0o700 });
    Deno.chmodSync(open, 0o777);
    Deno.copyFileSync(path, `${open}mine/pins.db`);
    Deno.symlinkSync(path, `${open}link.db`);
    Deno.symlinkSync(folder, `${open}folder`);
    Deno.symlinkSync(`${open}link.db`, `${folder}links.db`);
    for (
      const place of [
        `${open}mine/pins.db`,
        `${open}link.db`,
        `${open}folder/${path.slice(folder.length)}`,
        `${folder}links.db`,
      ]
    ) {
      await expectSigError(
        () => openPinStore(place),
        "store_unavailable",
        `any user can replace files in the folder ${open}`,
      );
    }
    if (Deno.uid() === 0) {
      Deno.chownSync(path, 65_534, null);
      await refused(`the file ${path} belongs to another user`);
      Deno.chownSync(path, 0, null);
      // SQLite reads these files first.
      for (const log of [`${path}-wal`, `${path}-journal`]) {
        Deno.writeTextFileSync(log, "");
        Deno.chownSync(log, 65_534, null);
        await refused(`the file ${log} belongs to another user`);
        Deno.removeSync(log);
      }
    }
    // A link to the file is accepted like the file.
    Deno.symlinkSync(path, `${path}.link`);
    const pins = await openPinStore(`${path}.link`);
    assertEquals((await listPins(pins)).length, 1);
    await pins.close();
    Deno.truncateSync(path);
    await refused("the file is empty");
    Deno.writeTextFileSync(path, "no database at all\n".repeat(99));
    await refused("the file is damaged");
    Deno.removeSync(path);
    const other = new DatabaseSync(path);
    other.exec("CREATE TABLE theirs (n INTEGER)");
    other.close();
    Deno.chmodSync(path, 0o600);
    await refused("the file belongs to another program");
    for (const [version, age] of [[1, "an earlier"], [9, "a newer"]]) {
      const file = new DatabaseSync(path);
      file.exec(
        `PRAGMA application_id = 1397311344; PRAGMA user_version = ${version}`,
      );
      file.close();
      await refused(
        `it was made by ${age} version of this program (${version})`,
      );
    }
  }));
