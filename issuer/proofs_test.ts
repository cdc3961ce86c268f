import { assert, assertEquals } from "@std/assert";
import { importSigningKey, importVerificationKey } from "@sig/jose";
import {
  cosignNote,
  createSha256,
  formatSignature,
  parseNote,
} from "@sig/jose/proofs";
import { createFileStore, createMemoryKeyStore, openIssuer } from "@sig/issuer";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { smallDiskTest } from "../tests/kit/small_disk.ts";
import { readJson } from "./testdata/documents.ts";
import { assertProofs, openPublished } from "./testdata/proofs.ts";
import {
  NOW,
  type Place,
  readFeed,
  runWorker,
  upsert,
  withPlace,
} from "./testdata/support.ts";

const PROOFS_URI = "https://acme.example/.well-known/sig/";
const SUBJECTS = ["alice", "bob", "carol"].map((name) =>
  `did:web:${name}.example`
);

/** An issuer that publishes proofs of three events. */
async function withProofs(
  test: (place: Place) => Promise<void>,
  options: Parameters<typeof withPlace>[1] = {},
): Promise<void> {
  await withPlace(async (place) => {
    const issuer = await place.open();
    await issuer.appendAll(SUBJECTS.map((subject) => upsert({ subject })));
    await issuer.checkpoint({ init: true });
    await issuer.close();
    await test(place);
  }, options);
}

const checkpointFile = (place: Place) =>
  `${place.dir}/.well-known/sig/checkpoint`;

async function filesOf(place: Place, kind: "state" | "tile") {
  const found: string[] = [];
  const walk = async (folder: string): Promise<void> => {
    for await (const { isDirectory, name } of Deno.readDir(folder)) {
      if (isDirectory) await walk(`${folder}/${name}`);
      else found.push(`${folder}/${name}`);
    }
  };
  await walk(`${place.dir}/.well-known/sig/${kind}`);
  return found.sort();
}

Deno.test("proofs begin on request, and an issuer without them has none", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await issuer.append(upsert());
    assertEquals(await issuer.refreshProofs(), []);
    const { hint } = (await expectSigError(
      issuer.checkpoint(),
      "invalid_request",
      "Cannot update proofs: this issuer publishes none",
    )).context;
    assertEquals(hint, "Begin with: sig checkpoint --init.");
    assertEquals((await readJson(place, "sig.json")).proofs_uri, undefined);
    await issuer.checkpoint({ init: true });
    assertEquals((await readJson(place, "sig.json")).proofs_uri, PROOFS_URI);
    assertEquals((await assertProofs(place)).size, 1);
  }));

Deno.test("each update shows what was appended, by any process", () =>
  withProofs(async (place) => {
    const issuer = await place.open();
    const { relationship_id } = await issuer.append(upsert());
    assertEquals(await issuer.refreshProofs(), []);
    assertEquals((await assertProofs(place)).size, 4);
    await issuer.append({
      event_type: "relationship.revoke",
      relationship_id,
      reason_code: "other",
    });
    await (await place.open()).append(upsert());
    assertEquals(await issuer.refreshProofs(), []);
    const { kids, size, time } = await assertProofs(place);
    assertEquals([kids, size, time], [["orgsign-1"], 6, NOW.getTime() / 1000]);
  }));

Deno.test("a feed over several tiles and pages, in uneven steps", () =>
  withProofs(async (place) => {
    const issuer = await place.open();
    let next = 0;
    for (const count of [1, 60, 192, 1, 255, 300]) {
      await issuer.appendAll(
        Array.from(
          { length: count },
          () => upsert({ subject: `did:web:s${(next++ * 7) % 150}.example` }),
        ),
      );
      assertEquals(await issuer.refreshProofs(), []);
      await assertProofs(place);
    }
  }));

Deno.test("a subject over 1 MiB has no lines in the proofs, beside others too", () =>
  withProofs(async (place) => {
    const issuer = await place.open();
    const metadata = { filler: "x".repeat(15_000) };
    for (const count of [40, 20, 1]) {
      await issuer.appendAll(
        Array.from({ length: count }, () => upsert({ metadata })),
      );
      assertEquals(await issuer.refreshProofs(), []);
      await assertProofs(place);
    }
    const files = await filesOf(place, "state");
    const texts = await Promise.all(files.map((f) => Deno.readTextFile(f)));
    assert(texts.some((text) => text.startsWith("too-large ")));
    for (const subject of [...SUBJECTS, "did:web:dora.example"]) {
      await issuer.append(upsert({ subject }));
      assertEquals(await issuer.refreshProofs(), []);
      await assertProofs(place);
    }
  }));

Deno.test("an upsert that changes a subject ends the proofs, and a key is introduced all the same", () =>
  withProofs(async (place) => {
    const issuer = await place.open({ allowWarnings: true });
    const { relationship_id } = await issuer.append(upsert());
    const before = await issuer.refreshProofs();
    assertEquals(before, []);
    await issuer.append(upsert({ subject: SUBJECTS[1]!, relationship_id }));
    const detail =
      "the proofs were not updated: Cannot update proofs: an upsert gives its relationship another subject, and no proof can show that";
    assertEquals(await issuer.refreshProofs(), [
      { code: "proofs_behind", detail },
    ]);
    const { sequence } = (await expectSigError(
      issuer.checkpoint(),
      "subject_changed",
      "an upsert gives its relationship another subject",
    )).context;
    assertEquals(sequence, 5);
    const { warnings } = await issuer.rotateKey({ kid: "key-2" });
    assertEquals(warnings.map(({ code }) => code), ["proofs_behind"]);
    const { kids, size } = await assertProofs(place);
    assertEquals([kids, size], [["key-2", "orgsign-1"], 4]);
  }));

/** The same event under the same signature, in other bytes. */
function reordered(line: string): string {
  const { payload, protected: header, signature } = JSON.parse(line);
  return JSON.stringify({ payload, protected: header, signature });
}

for (
  const [what, code, message, change] of [
    [
      "was shortened",
      "feed_rolled_back",
      "Cannot update proofs: the feed has",
      (lines: string[]) => lines.slice(0, 2),
    ],
    [
      "has another last line",
      "feed_rewritten",
      "Cannot update proofs: up to sequence 3 the feed is not the one",
      (
        lines: string[],
      ) => [...lines.slice(0, 2), lines[2]!.replace(/^{/, "{ ")],
    ],
    [
      "has another last line of the same length",
      "feed_rewritten",
      "Cannot update proofs: up to sequence 3 the feed is not the one",
      (lines: string[]) => [...lines.slice(0, 2), reordered(lines[2]!)],
    ],
    [
      "has another first line",
      "feed_rewritten",
      "Cannot update proofs: up to sequence 3 the feed is not the one",
      ([first, ...more]: string[]) => [reordered(first!), ...more],
    ],
  ] as const
) {
  for (const rebuild of [false, true]) {
    // Only a rebuild reads the lines before the last one of the checkpoint.
    if (!rebuild && what === "has another first line") continue;
    const how = rebuild ? "made again" : "updated";
    Deno.test(`nothing is signed over a feed that ${what}, when proofs are ${how}`, () =>
      withProofs(async (place) => {
        const signed = await Deno.readTextFile(checkpointFile(place));
        const lines = (await Deno.readTextFile(place.feed)).trimEnd();
        await Deno.writeTextFile(
          place.feed,
          change(lines.split("\n")).map((line) => `${line}\n`).join(""),
        );
        // Without the index, which would notice as well.
        await Deno.remove(`${place.dir}/.sig`, { recursive: true });
        const issuer = await place.open();
        await expectSigError(issuer.checkpoint({ rebuild }), code, message);
        const [warning] = await issuer.refreshProofs();
        assertEquals(
          warning?.code,
          what === "has another first line" ? undefined : "proofs_behind",
        );
        if (warning === undefined) return;
        assertEquals(await Deno.readTextFile(checkpointFile(place)), signed);
      }));
  }
}

for (
  const [what, damage, code, message] of [
    [
      "a damaged state file",
      async (place: Place) => {
        const [file] = await filesOf(place, "state");
        await Deno.writeTextFile(file!, "damaged");
      },
      "proof_invalid",
      "a state file is neither lines nor a page",
    ],
    [
      "a damaged line of a state file",
      async (place: Place) => {
        const [file] = await filesOf(place, "state");
        const text = await Deno.readTextFile(file!);
        await Deno.writeTextFile(file!, text.replace('"', "'"));
      },
      "proof_invalid",
      "is damaged: ",
    ],
    [
      "a missing state file",
      async (place: Place) => {
        const [file] = await filesOf(place, "state");
        await Deno.remove(file!);
      },
      "proof_invalid",
      "is missing",
    ],
    [
      "a damaged tile",
      async (place: Place) => {
        const [file] = await filesOf(place, "tile");
        const bytes = await Deno.readFile(file!);
        bytes[0]! ^= 1;
        await Deno.writeFile(file!, bytes);
      },
      "proof_invalid",
      "the tiles are not those of the checkpoint",
    ],
    [
      "a missing tile",
      async (place: Place) => {
        const [file] = await filesOf(place, "tile");
        await Deno.remove(file!);
      },
      "proof_invalid",
      "tile/0/000.p/3 is missing",
    ],
    [
      "an altered checkpoint",
      async (place: Place) => {
        const text = await Deno.readTextFile(checkpointFile(place));
        await Deno.writeTextFile(
          checkpointFile(place),
          text.replace("\n3\n", "\n2\n"),
        );
      },
      "invalid_checkpoint",
      "does not verify",
    ],
    [
      "no checkpoint",
      async (place: Place) => await Deno.remove(checkpointFile(place)),
      "source_not_found",
      "Cannot update proofs: the checkpoint is missing",
    ],
  ] as const
) {
  Deno.test(`${what} is told, and made again on request`, () =>
    withProofs(async (place) => {
      await damage(place);
      const issuer = await place.open();
      await issuer.append(upsert());
      const { context } = await expectSigError(
        issuer.checkpoint(),
        code,
        message,
      );
      assertEquals(
        context.hint,
        "Make the proofs again from the feed: sig checkpoint --rebuild.",
      );
      const [warning] = await issuer.refreshProofs();
      assertEquals(warning?.code, "proofs_behind");
      await issuer.checkpoint({ rebuild: true });
      assertEquals((await assertProofs(place)).size, 4);
    }));
}

Deno.test("a rotation signs with the old and the new key, before and after the documents", () =>
  withProofs(async (place) => {
    const seen: unknown[] = [];
    const issuer = await place.open({
      store: createFileStore(place.dir, {
        faults: {
          onStep(step) {
            if (!step.startsWith("renamed ")) return;
            const path = step.split("/").at(-1);
            const text = Deno.readTextFileSync(checkpointFile(place));
            const names = text.split("\n").filter((l) => l.startsWith("— "));
            seen.push([path, names.length]);
          },
        },
      }),
    });
    const { warnings } = await issuer.rotateKey({ kid: "key-2" });
    assertEquals(warnings, []);
    assertEquals(seen, [
      ["checkpoint", 3],
      ["jwks.json", 3],
      ["did.json", 3],
      ["checkpoint", 3],
    ]);
    const { kids, time } = await assertProofs(place);
    assertEquals([kids, time], [
      ["key-2", "orgsign-1"],
      NOW.getTime() / 1000,
    ]);
    await issuer.append(upsert());
    assertEquals(await issuer.refreshProofs(), []);
    assertEquals((await assertProofs(place)).kids, ["key-2", "orgsign-1"]);
  }));

Deno.test("the only key that was given, and another store, sign together", () =>
  withProofs(async (place) => {
    await (await place.open()).rotateKey({ kid: "key-2" });
    const path = `${place.keysDir}/acme.example/key-2.jwk`;
    const jwk = JSON.parse(await Deno.readTextFile(path));
    const keys = await importSigningKey({ ...jwk, kid: "key-2" });
    const old = createMemoryKeyStore();
    const kid = "orgsign-1";
    await old.write(
      { host: "acme.example", kid },
      JSON.parse(await Deno.readTextFile(path.replace("key-2", kid))),
    );
    const alone = await place.open({ keys });
    await alone.checkpoint();
    assertEquals((await openPublished(place)).kids, ["key-2"]);
    const both = await place.open({ keys, otherKeys: [old] });
    await both.checkpoint();
    assertEquals((await openPublished(place)).kids, ["key-2", "orgsign-1"]);
    await both.rotateKey({
      kid: "key-3",
      key: { ...jwk, ...await freshKey() },
    });
    const { kids } = await openPublished(place);
    assertEquals(kids, ["key-3", "key-2", "orgsign-1"]);
  }));

async function freshKey() {
  const { generateSigningKey } = await import("@sig/jose");
  return await generateSigningKey({ kid: "key-3" });
}

Deno.test("a lost key can't introduce its successor, who signs alone", () =>
  withProofs(async (place) => {
    await Deno.remove(`${place.keysDir}/acme.example/orgsign-1.jwk`);
    const signed = await Deno.readTextFile(checkpointFile(place));
    const seen: boolean[] = [];
    const issuer = await place.open({
      store: createFileStore(place.dir, {
        faults: {
          onStep(step) {
            if (step !== "renamed /.well-known/jwks.json") return;
            seen.push(Deno.readTextFileSync(checkpointFile(place)) === signed);
          },
        },
      }),
    });
    assertEquals((await issuer.rotateKey({ kid: "key-2" })).warnings, []);
    assertEquals(seen, [true]);
    assertEquals((await assertProofs(place)).kids, ["key-2"]);
  }));

Deno.test("a renewed checkpoint keeps the lines of cosigners, a new one does not", () =>
  withProofs(async (place) => {
    const line = (name: string, last: string) =>
      `— ${name} AAAAAAAAAAAAAA${last}=\n`;
    const read = async () =>
      (await Deno.readTextFile(checkpointFile(place))).split("\n").slice(9, -1)
        .map((each) => `${each}\n`);
    const [one, other] = [line("a.example/1", "A"), line("b.example/1", "A")];
    const issuer = await place.open();
    await issuer.checkpoint({ add: one });
    await issuer.checkpoint({ add: `${other}\n` });
    assertEquals(await read(), [one, other]);
    const later = new Date(NOW.getTime() + 60_000);
    await (await place.open({ now: () => later })).checkpoint();
    assertEquals(await read(), [one, other]);
    assertEquals((await assertProofs(place)).time, later.getTime() / 1000);
    const again = line("a.example/1", "E");
    await issuer.checkpoint({ add: again });
    assertEquals(await read(), [other, again]);
    for (
      const [add, why] of [
        ["a.example/1 AAAAAAAAAAAAAAAA", "signature line 1 is malformed"],
        [line("acme.example/.well-known/sig", "A"), "is the issuer's own"],
        [
          Array.from({ length: 63 }, (_, i) => line(`c.example/${i}`, "A"))
            .join(""),
          "signature lines (at most 64)",
        ],
        [line("c".repeat(131_000), "A"), "it would have over 131072 bytes"],
      ] as const
    ) {
      await expectSigError(
        issuer.checkpoint({ add }),
        "invalid_checkpoint",
        why,
      );
    }
    assertEquals(await read(), [other, again]);
    await issuer.append(upsert());
    await issuer.refreshProofs();
    assertEquals(await read(), []);
  }));

Deno.test("a line that is known to be a cosigner's must be a signature of the checkpoint", () =>
  withProofs(async (place) => {
    const key = await importSigningKey(await freshKey());
    const cosigner = {
      ...{ name: "witness.example/1", type: "cosignature" as const },
      key: await importVerificationKey(key.publicJwk),
    };
    const sha256 = createSha256();
    const cosign = async (change: (text: string) => string) => {
      const { text } = parseNote(
        await Deno.readTextFile(checkpointFile(place)),
      );
      const of = [change(text), cosigner.name, key, 1_780_000_000] as const;
      return formatSignature(await cosignNote(sha256, ...of));
    };
    const issuer = await place.open();
    const add = await cosign((text) => text);
    await issuer.append(upsert());
    await issuer.refreshProofs();
    const newer = await Deno.readTextFile(checkpointFile(place));
    await expectSigError(
      issuer.checkpoint({ add, cosigners: [cosigner] }),
      "invalid_checkpoint",
      'the signature by "witness.example/1" does not verify',
    );
    assertEquals(await Deno.readTextFile(checkpointFile(place)), newer);
    const fresh = await cosign((text) => text);
    await issuer.checkpoint({ add: fresh, cosigners: [cosigner] });
    assertEquals(await Deno.readTextFile(checkpointFile(place)), newer + fresh);
  }));

Deno.test("an update reads each file of the proofs once", () =>
  withProofs(async (place) => {
    const store = createFileStore(place.dir);
    const read: string[] = [];
    const counting = new Proxy(store, {
      get(target, name) {
        const value = Reflect.get(target, name);
        return typeof value !== "function" ? value : (...args: unknown[]) => {
          if (name === "read") read.push(String(args[0]));
          return value.apply(target, args);
        };
      },
    });
    const issuer = await place.open({ store: counting });
    // A tree of several peaks, all of them in one tile.
    await issuer.appendAll(Array.from({ length: 9 }, () => upsert()));
    await issuer.refreshProofs();
    await issuer.append(upsert());
    read.length = 0;
    assertEquals(await issuer.refreshProofs(), []);
    const files = read.filter((path) => /\/(?:tile|state)\//.test(path));
    assertEquals(files.length, 2);
    assertEquals(new Set(files).size, 2);
  }));

Deno.test("files that the newest checkpoint does not need go after 24 hours, not before", () =>
  withProofs(async (place) => {
    let now = NOW.getTime();
    const HOUR = 3_600_000;
    const issuer = await place.open({ now: () => new Date(now) });
    const count = async () => [
      (await filesOf(place, "state")).length,
      (await filesOf(place, "tile")).length,
    ];
    assertEquals(await count(), [1, 1]);
    for (const hours of [1, 2]) {
      now = NOW.getTime() + hours * HOUR;
      await issuer.append(upsert());
      await issuer.refreshProofs();
    }
    assertEquals(await count(), [3, 3]);
    for (const [hours, left] of [[24, 3], [25, 2], [26, 1], [27, 1]] as const) {
      now = NOW.getTime() + hours * HOUR;
      await issuer.checkpoint();
      assertEquals(await count(), [left, left], `${hours}`);
      await assertProofs(place);
    }
  }));

Deno.test("SIGKILL at any step of the first checkpoint, or of a later one, leaves proofs that hold", async (t) => {
  const steps = async (
    place: Place,
    name: string,
    check: () => Promise<void>,
  ) => {
    for (let passes = 0;; passes++) {
      const worker = {
        work: "checkpoint",
        name,
        killAt: "any",
        passes,
      } as const;
      const died = await runWorker(place, worker);
      await check();
      if (died.signal === null) {
        assertEquals(died.code, 0, died.output);
        return passes;
      }
      assertEquals(died.signal, "SIGKILL", died.output);
      // A step that a retry does not repeat makes the way shorter.
      if (passes > 40) throw new Error("there is no end");
    }
  };
  await withPlace(async (place) => {
    const first = await place.open();
    await first.appendAll(SUBJECTS.map((subject) => upsert({ subject })));
    await first.close();
    await t.step("the first", async () => {
      const passed = await steps(place, "init", async () => {
        const { proofs_uri } = await readJson(place, "sig.json");
        if (proofs_uri !== undefined) await assertProofs(place);
      });
      assert(passed > 4, `${passed}`);
      assertEquals((await assertProofs(place)).size, 3);
    });
    await t.step("a later one", async () => {
      for (let size = 4; size < 7; size++) {
        const issuer = await place.open();
        await issuer.append(upsert({ subject: SUBJECTS[size % 3]! }));
        await issuer.close();
        const died = await runWorker(place, {
          ...{ work: "checkpoint", name: "more", killAt: "any" },
          ...{ passes: size - 1 },
        });
        assertEquals(died.signal, "SIGKILL", died.output);
        assert((await assertProofs(place)).size < size);
      }
      await steps(place, "more", async () => void await assertProofs(place));
      assertEquals((await assertProofs(place)).size, 6);
      await readFeed(place);
    });
    await t.step("what was left is removed a day later", async () => {
      const now = new Date(NOW.getTime() + 25 * 3_600_000);
      await (await place.open({ now: () => now })).checkpoint();
      await assertProofs(place);
      assertEquals((await filesOf(place, "state")).length, 1);
      assertEquals((await filesOf(place, "tile")).length, 1);
    });
  });
});

smallDiskTest(
  "a full disk leaves the old proofs, and is a warning after an append",
  "256k",
  (disk) =>
    withProofs(async (place) => {
      const issuer = await place.open();
      const fill = new Uint8Array(4096);
      const signed = await Deno.readTextFile(checkpointFile(place));
      await issuer.append(upsert());
      for (let n = 0;; n++) {
        try {
          await Deno.writeFile(`${disk.path}/pad${n}`, fill);
        } catch {
          break;
        }
      }
      const [warning] = await issuer.refreshProofs();
      assertEquals(warning?.code, "proofs_behind");
      assert(warning?.detail.includes("ENOSPC"), warning?.detail);
      await expectSigError(
        issuer.checkpoint(),
        "write_failed",
        "no space is left on the device (ENOSPC)",
      );
      assertEquals(await Deno.readTextFile(checkpointFile(place)), signed);
      await assertProofs(place);
      disk.remount("size=4m");
      assertEquals(await issuer.refreshProofs(), []);
      assertEquals((await assertProofs(place)).size, 4);
    }, { parent: disk.path }),
);

Deno.test("many writers and updates at once end in proofs of all events", () =>
  withProofs(async (place) => {
    const issuers = await Promise.all([1, 2, 3].map(() => place.open()));
    await Promise.all(issuers.map(async (issuer, i) => {
      for (let n = 0; n < 5; n++) {
        await issuer.append(upsert({ subject: SUBJECTS[i]! }));
        assertEquals(await issuer.refreshProofs(), []);
      }
    }));
    assertEquals((await assertProofs(place)).size, 18);
    const store = createFileStore(place.dir);
    const again = await openIssuer({
      ...{ store, keys: createMemoryKeyStore(), now: () => NOW },
    });
    await expectSigError(
      again.checkpoint(),
      "signing_key_not_found",
      "Cannot sign checkpoint: the private part of none",
    );
    await again.close();
  }));
