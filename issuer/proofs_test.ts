import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import {
  generateSigningKey,
  importSigningKey,
  importVerificationKey,
} from "@sig/jose";
import { cosignNote, formatSignature, parseNote } from "@sig/jose/proofs";
import {
  createFileStore,
  createMemoryKeyStore,
  type Issuer,
  openIssuer,
} from "@sig/issuer";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { smallDiskTest } from "../tests/kit/small_disk.ts";
import { crashesOf, withIssuer } from "./testdata/crashes.ts";
import { readJson } from "./testdata/documents.ts";
import { assertProofs, openPublished } from "./testdata/proofs.ts";
import {
  eachIndexFile,
  NOW,
  type Place,
  type PlaceTest,
  placeTest as test,
  upsert,
  walk,
  withMethods,
  withPlace,
} from "./testdata/support.ts";

// promise: Nothing is signed over a shortened or replaced feed; a rotation
//   signs with the old keys too.

const PROOFS_URI = "https://acme.example/.well-known/sig/";
const SUBJECTS = ["alice", "bob", "carol"].map((name) =>
  `did:web:${name}.example`
);

/** Defines a test with an issuer that publishes proofs of three events. */
async function withProofs(
  test: PlaceTest,
  options: Parameters<typeof withPlace>[1] = {},
): Promise<void> {
  await withPlace(async (place, issuer) => {
    await issuer.appendAll(SUBJECTS.map((subject) => upsert({ subject })));
    await issuer.checkpoint({ init: true });
    await issuer.close();
    await test(place, await place.open());
  }, options);
}

const it: typeof test = (name, run) =>
  Deno.test(name, () => withProofs((place, issuer) => run({ place, issuer })));

const checkpointFile = (place: Place) =>
  `${place.dir}/.well-known/sig/checkpoint`;
const readCheckpoint = (place: Place) =>
  Deno.readTextFile(checkpointFile(place));

/** Updates the proofs and compares them with the feed. */
async function refresh(place: Place, issuer: Issuer) {
  assertEquals(await issuer.refreshProofs(), []);
  return await assertProofs(place);
}

const filesOf = (place: Place, kind: "state" | "tile") => {
  const folder = `${place.dir}/.well-known/sig/${kind}`;
  return [...walk(folder)].map((path) => folder + path);
};

test("publishes proofs on request only", async ({ issuer, place }) => {
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
});

it("updates a feed over several tiles and pages in uneven steps", async ({ issuer, place }) => {
  let next = 0;
  for (const count of [1, 60, 192, 1, 255, 300]) {
    await issuer.appendAll(
      Array.from(
        { length: count },
        () => upsert({ subject: `did:web:s${(next++ * 7) % 150}.example` }),
      ),
    );
    await refresh(place, issuer);
  }
});

it("omits the lines of a subject over 1 MiB, also next to other subjects", async ({ issuer, place }) => {
  const metadata = { filler: "x".repeat(15_000) };
  for (const count of [40, 20, 1]) {
    await issuer.appendAll(
      Array.from({ length: count }, () => upsert({ metadata })),
    );
    await refresh(place, issuer);
  }
  const files = filesOf(place, "state");
  const texts = await Promise.all(files.map((f) => Deno.readTextFile(f)));
  assert(texts.some((text) => text.startsWith("too-large ")));
  for (const subject of [...SUBJECTS, "did:web:dora.example"]) {
    await issuer.append(upsert({ subject }));
    await refresh(place, issuer);
  }
});

it("while another writer holds the lock, proofs are behind and refreshProofs does not reject", async ({ place }) => {
  const issuer = await place.open({ lockTimeoutMs: 1 });
  await issuer.append(upsert());
  const other = createFileStore(place.dir);
  const held = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const holding = other.exclusively({ timeoutMs: 10_000 }, async () => {
    held.resolve();
    await done.promise;
  });
  await held.promise;
  const [warning] = await issuer.refreshProofs();
  assertEquals(warning?.code, "proofs_behind");
  assert(warning?.detail.startsWith("the proofs were not updated: "));
  done.resolve();
  await holding;
  await other.close();
  assertEquals(await issuer.refreshProofs(), []);
});

it("an upsert that changes a subject stops the proofs, but a new key is still introduced", async ({ place }) => {
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
});

/** The same event and signature, in other bytes. */
function reordered(line: string): string {
  const { payload, protected: header, signature } = JSON.parse(line);
  return JSON.stringify({ payload, protected: header, signature });
}

const REWRITTEN =
  "Cannot update proofs: up to sequence 3 the feed is not the one";

for (
  const [what, change, code, message] of [
    [
      "was shortened",
      ([one, two]) => [one!, two!],
      "feed_rolled_back",
      "Cannot update proofs: the feed has",
    ],
    ["has another last line", ([one, two, three]) => [
      ...[one!, two!],
      three!.replace(/^{/, "{ "),
    ]],
    [
      "has another last line of the same length",
      ([one, two, three]) => [one!, two!, reordered(three!)],
    ],
    [
      "has another first line",
      ([first, ...more]) => [reordered(first!), ...more],
    ],
  ] as readonly [
    string,
    (lines: readonly string[]) => readonly string[],
    ErrorCode?,
    string?,
  ][]
) {
  it(`nothing is signed over a feed that ${what}, when proofs are updated or made again`, async ({ place }) => {
    const signed = await readCheckpoint(place);
    const lines = (await Deno.readTextFile(place.feed)).trimEnd();
    const changed = change(lines.split("\n"));
    await Deno.writeTextFile(
      place.feed,
      changed.map((line) => `${line}\n`).join(""),
    );
    for (const rebuild of [true, false]) {
      // Only a rebuild reads the lines before the checkpoint's last line.
      const isSeen = rebuild || what !== "has another first line";
      // Without the index, which would also detect it.
      await Deno.remove(`${place.dir}/.sig`, { recursive: true });
      const issuer = await place.open();
      const work = () => issuer.checkpoint({ rebuild });
      if (!isSeen) return void await work();
      await expectSigError(
        work,
        code ?? "feed_rewritten",
        message ?? REWRITTEN,
      );
      assertEquals(await readCheckpoint(place), signed);
    }
    const [warning] = await (await place.open()).refreshProofs();
    assertEquals(warning?.code, "proofs_behind");
  });
}

const encode = (text: string) => new TextEncoder().encode(text);
const changed = (from: string, to: string) => (bytes: Uint8Array) =>
  encode(new TextDecoder().decode(bytes).replace(from, to));

/** A file, its damage (undefined removes the file), and the error. */
const DAMAGES: readonly (readonly [
  file: "state" | "tile" | "checkpoint",
  damage: string,
  change: (bytes: Uint8Array) => Uint8Array | undefined,
  message: string,
  code?: ErrorCode,
])[] = [
  [
    "state",
    "another text",
    () => encode("damaged"),
    "a state file is neither lines nor a page",
  ],
  ["state", "a damaged line", changed('"', "'"), "is damaged: "],
  ["state", "nothing", () => undefined, "is missing"],
  [
    "tile",
    "another byte",
    ([first, ...rest]) => Uint8Array.of(first! ^ 1, ...rest),
    "the tiles are not those of the checkpoint",
  ],
  ["tile", "nothing", () => undefined, "tile/0/000.p/3 is missing"],
  [
    "checkpoint",
    "another size",
    changed("\n3\n", "\n2\n"),
    "does not verify",
    "invalid_checkpoint",
  ],
  [
    "checkpoint",
    "nothing",
    () => undefined,
    "Cannot update proofs: the checkpoint is missing",
    "source_not_found",
  ],
];

for (const [file, damage, change, message, code] of DAMAGES) {
  it(`a ${file} file with ${damage} is reported, and rebuilt on request`, async ({ place }) => {
    const [path] = file === "checkpoint"
      ? [checkpointFile(place)]
      : filesOf(place, file);
    const bytes = change(await Deno.readFile(path!));
    if (bytes === undefined) await Deno.remove(path!);
    else await Deno.writeFile(path!, bytes);
    const issuer = await place.open();
    await issuer.append(upsert());
    const { context } = await expectSigError(
      issuer.checkpoint(),
      code ?? "proof_invalid",
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
  });
}

/** Opens an issuer that reports the documents it renames. */
const watched = (place: Place, onRename: (name: string) => void) =>
  place.open({
    faults: {
      onStep(step) {
        if (!step.startsWith("renamed ")) return;
        onRename(step.slice(step.lastIndexOf("/") + 1));
      },
    },
  });

it("a rotation signs with the old and the new key before it publishes the new one, and not again", async ({ place }) => {
  const seen: unknown[] = [];
  const issuer = await watched(place, (name) => {
    const text = Deno.readTextFileSync(checkpointFile(place));
    seen.push([name, text.split("\n— ").length - 1]);
  });
  const { warnings } = await issuer.rotateKey({ kid: "key-2" });
  assertEquals(warnings, []);
  assertEquals(seen, [
    ["checkpoint", 3],
    ["jwks.json", 3],
    ["did.json", 3],
  ]);
  const { kids, time } = await assertProofs(place);
  assertEquals([kids, time], [
    ["key-2", "orgsign-1"],
    NOW.getTime() / 1000,
  ]);
  await issuer.append(upsert());
  assertEquals((await refresh(place, issuer)).kids, ["key-2", "orgsign-1"]);
});

it("signs with a single given key and with another key store", async ({ place }) => {
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
  assertEquals((await openPublished(place)).kids, ["key-2", "orgsign-1"]);
  const both = await place.open({ keys, otherKeys: [old] });
  await both.checkpoint();
  assertEquals((await openPublished(place)).kids, ["key-2", "orgsign-1"]);
  await both.rotateKey({
    kid: "key-3",
    key: { ...jwk, ...await generateSigningKey({ kid: "key-3" }) },
  });
  const { kids } = await openPublished(place);
  assertEquals(kids, ["key-3", "key-2", "orgsign-1"]);
});

it("a rotation without any old key is refused and changes nothing, or signs alone on request", async ({ place }) => {
  await Deno.remove(`${place.keysDir}/acme.example/orgsign-1.jwk`);
  const signed = await readCheckpoint(place);
  const seen: boolean[] = [];
  const issuer = await watched(place, (name) => {
    if (name !== "jwks.json") return;
    seen.push(Deno.readTextFileSync(checkpointFile(place)) === signed);
  });
  const { context } = await expectSigError(
    issuer.rotateKey({ kid: "key-2" }),
    "signing_key_not_found",
    'Cannot introduce key "key-2": the private part of none of the issuer\'s older keys is available',
  );
  assertStringIncludes(context.hint ?? "", "--unintroduced");
  assertEquals([seen, [...walk(place.keysDir)]], [[], []]);
  const rotated = await issuer.rotateKey({ kid: "key-2", unintroduced: true });
  assertEquals(rotated.warnings, []);
  assertEquals(seen, [true]);
  assertEquals((await assertProofs(place)).kids, ["key-2"]);
});

/** Removes the old key of a rotated issuer, and returns its path. */
async function withoutOldKey(place: Place): Promise<string> {
  await (await place.open()).rotateKey({ kid: "key-2" });
  const path = `${place.keysDir}/acme.example/orgsign-1.jwk`;
  await Deno.rename(path, `${path}.away`);
  return path;
}

it("a renewed checkpoint keeps the signature of a key that can't sign now", async ({ place }) => {
  await withoutOldKey(place);
  const later = new Date(NOW.getTime() + 60_000);
  await (await place.open({ now: () => later })).checkpoint();
  const { kids, time } = await openPublished(place);
  assertEquals(kids, ["key-2", "orgsign-1"]);
  assertEquals(time, later.getTime() / 1000);
});

it("no checkpoint of new events lacks the signature of a key that signed the last one, unless it is dropped", async ({ place }) => {
  const path = await withoutOldKey(place);
  const signed = await readCheckpoint(place);
  const issuer = await place.open();
  await issuer.append(upsert());
  const [warning] = await issuer.refreshProofs();
  assertEquals(warning?.code, "proofs_behind");
  for (const rebuild of [false, true]) {
    const { context } = await expectSigError(
      issuer.checkpoint({ rebuild, drop: ["key-2"] }),
      "signing_key_not_found",
      'Cannot sign checkpoint: key "orgsign-1", which signed the last one, can\'t sign now',
    );
    assertStringIncludes(context.hint ?? "", "--drop orgsign-1");
  }
  // Its signature would also be missing in the introduction of a third key.
  await expectSigError(
    issuer.rotateKey({ kid: "key-3" }),
    "signing_key_not_found",
    'Cannot sign checkpoint: key "orgsign-1"',
  );
  assertEquals(await readCheckpoint(place), signed);
  await Deno.rename(`${path}.away`, path);
  assertEquals((await refresh(place, issuer)).kids, ["key-2", "orgsign-1"]);
  await Deno.remove(path);
  await issuer.append(upsert());
  await issuer.checkpoint({ drop: ["orgsign-1"] });
  assertEquals((await assertProofs(place)).kids, ["key-2"]);
});

it("a renewed checkpoint keeps the lines of cosigners; a checkpoint with new events does not", async ({ place }) => {
  const line = (name: string, last: string) =>
    `— ${name} AAAAAAAAAAAAAA${last}=\n`;
  const read = async () =>
    (await readCheckpoint(place)).split("\n").slice(9, -1)
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
  await issuer.checkpoint({ add: other });
  assertEquals(await read(), [one, other]);
  for (
    const [add, why] of [
      [
        line("a.example/1", "E"),
        'it has another line by the same key of "a.example/1"',
      ],
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
  assertEquals(await read(), [one, other]);
  await issuer.append(upsert());
  await issuer.refreshProofs();
  assertEquals(await read(), []);
});

it("a cosigner's line replaces only lines of its key that are earlier or forged, and only if it is valid", async ({ place }) => {
  const key = await importSigningKey(
    await generateSigningKey({ kid: "key-3" }),
  );
  const cosigner = {
    ...{ name: "witness.example/1", type: "cosignature" as const },
    key: await importVerificationKey(key.publicJwk),
  };
  const cosign = async (time: number, change = (text: string) => text) => {
    const { text } = parseNote(await readCheckpoint(place));
    const of = [change(text), cosigner.name, key, time] as const;
    return formatSignature(await cosignNote(...of));
  };
  const issuer = await place.open();
  const signed = await readCheckpoint(place);
  const add = (add: string, of = [cosigner]) =>
    issuer.checkpoint({ add, cosigners: of });
  // A function: a promise could reject before it is awaited.
  const refused = async (work: () => Promise<unknown>, why: string) => {
    const before = await readCheckpoint(place);
    await expectSigError(work, "invalid_checkpoint", why);
    assertEquals(await readCheckpoint(place), before);
  };
  const stranger = "— stranger.example/1 AAAAAAAAAAAAAAA=\n";
  await refused(() => add(stranger), "no line is by a given cosigner");
  const forged = await cosign(1_790_000_000, (text) => `${text}x 1\n`);
  await add(forged, []);
  assertEquals(await readCheckpoint(place), signed + forged);
  const invalid = 'the signature by "witness.example/1" does not verify';
  await refused(() => add(forged), invalid);
  const [early, late] = [
    await cosign(1_780_000_000),
    await cosign(1_785_000_000),
  ];
  await refused(() => add(late, []), "it has another line by the same key");
  await add(`${stranger}${late}`);
  assertEquals(await readCheckpoint(place), signed + late);
  await refused(() => add(forged), invalid);
  await refused(() => add(forged, []), "it has another line by the same key");
  await refused(() => add(early), 'it has a later line by "witness.example/1"');
  await add(late);
  assertEquals(await readCheckpoint(place), signed + late);
});

it("an update reads each proof file once", async ({ place }) => {
  const store = createFileStore(place.dir);
  const read: string[] = [];
  const counting = withMethods(store, {
    read(path, maxBytes) {
      read.push(path);
      return store.read(path, maxBytes);
    },
  });
  const issuer = await place.open({ store: counting });
  // A tree with several peaks, all in one tile.
  await issuer.appendAll(Array.from({ length: 9 }, () => upsert()));
  await issuer.refreshProofs();
  await issuer.append(upsert());
  read.length = 0;
  assertEquals(await issuer.refreshProofs(), []);
  const files = read.filter((path) => /\/(?:tile|state)\//.test(path));
  assertEquals(files.length, 2);
  assertEquals(new Set(files).size, 2);
  // Removals are considered once an hour only.
  assert(!read.includes("/.sig/proofs.jsonl"));
});

it("removes files that the newest checkpoint does not need after 24 hours", async ({ place }) => {
  let now = NOW.getTime();
  const HOUR = 3_600_000;
  const issuer = await place.open({ now: () => new Date(now) });
  const count = () => [
    filesOf(place, "state").length,
    filesOf(place, "tile").length,
  ];
  assertEquals(count(), [1, 1]);
  for (const hours of [1, 2]) {
    now = NOW.getTime() + hours * HOUR;
    await issuer.append(upsert());
    await issuer.refreshProofs();
  }
  assertEquals(count(), [3, 3]);
  for (const [hours, left] of [[24, 3], [25, 2], [26, 1], [27, 1]] as const) {
    now = NOW.getTime() + hours * HOUR;
    await issuer.checkpoint();
    assertEquals(count(), [left, left], `${hours}`);
    await assertProofs(place);
  }
  assertEquals(await Deno.readTextFile(`${place.dir}/.sig/proofs.jsonl`), "");
});

it("a rebuild keeps pending removals, but not of files that it uses", async ({ place }) => {
  let hours = 0;
  const now = () => new Date(NOW.getTime() + hours * 3_600_000);
  const count = () =>
    filesOf(place, "state").length + filesOf(place, "tile").length;
  const issuer = await place.open({ now });
  for (hours of [1, 2, 3]) {
    await issuer.append(upsert());
    assertEquals(await issuer.refreshProofs(), []);
  }
  assertEquals(count(), 8);
  await issuer.append(upsert());
  await issuer.checkpoint({ rebuild: true });
  assertEquals(count(), 10);
  for (const [at, left] of [[25, 8], [26, 6], [27, 2]] as const) {
    hours = at;
    await issuer.checkpoint();
    assertEquals(count(), left, `${at}`);
    await assertProofs(place);
  }
  const feed = await Deno.readFile(place.feed);
  for (hours of [31, 32, 33]) {
    await issuer.append(upsert());
    assertEquals(await issuer.refreshProofs(), []);
  }
  await issuer.close();
  // The files of the oldest checkpoint will be removed; it is published again.
  await Deno.writeFile(place.feed, feed);
  await Deno.remove(checkpointFile(place));
  await eachIndexFile(place);
  const again = await place.open({ now });
  await again.checkpoint({ rebuild: true });
  assertEquals(count(), 8);
  hours = 60;
  await again.checkpoint();
  assertEquals(count(), 2);
  await assertProofs(place);
});

for (const [what, rest] of [["lost", ""], ["torn", '{"at":']] as const) {
  test(`a ${what} line of the journal of removals removes no file in use`, async ({ place }) => {
    let hours = 0;
    const issuer = await place.open({
      now: () => new Date(NOW.getTime() + hours * 3_600_000),
    });
    // A full tile, which the later checkpoints need, is made in the second.
    const drafts = Array.from({ length: 200 }, () => upsert());
    await issuer.appendAll(drafts);
    await issuer.checkpoint({ init: true });
    for (hours of [1, 2, 3, 30]) {
      await issuer.appendAll(drafts.slice(0, 60));
      assertEquals(await issuer.refreshProofs(), []);
      if (hours !== 2) continue;
      const journal = `${place.dir}/.sig/proofs.jsonl`;
      const [first] = (await Deno.readTextFile(journal)).split("\n");
      await Deno.writeTextFile(journal, `${first}\n${rest}`);
    }
    await assertProofs(place);
  });
}

test("a crash at any step of the first or a later checkpoint leaves valid proofs, and no unused file a day later", async ({ issuer, place }) => {
  await issuer.appendAll(SUBJECTS.map((subject) => upsert({ subject })));
  await issuer.close();
  const isPublished = async () =>
    (await readJson(place, "sig.json")).proofs_uri !== undefined;
  const checkpoint = (faults = {}) =>
    withIssuer(place, (each) => each.checkpoint({ init: true }), faults);
  for (let size = 3; size < 6; size++) {
    const crashes = await crashesOf(place, checkpoint);
    assert(crashes.length > 4, `${crashes.length}`);
    for (const { restore } of crashes) {
      restore();
      if (await isPublished()) await assertProofs(place);
      await checkpoint();
      assertEquals((await assertProofs(place)).size, size);
    }
    // A crash of a later one is not repaired before the next event.
    if (size > 3) crashes.at(size - 7)!.restore();
    const draft = upsert({ subject: SUBJECTS[size % 3]! });
    await withIssuer(place, (each) => each.append(draft));
  }
  await checkpoint();
  const now = new Date(NOW.getTime() + 25 * 3_600_000);
  await (await place.open({ now: () => now })).checkpoint();
  await assertProofs(place);
  assertEquals(
    [filesOf(place, "state"), filesOf(place, "tile")].flat().length,
    2,
  );
});

smallDiskTest(
  "a full disk keeps the old proofs and causes a warning after an append",
  "256k",
  (disk) =>
    withProofs(async (place, issuer) => {
      const signed = await readCheckpoint(place);
      await issuer.append(upsert());
      disk.fill();
      const [warning] = await issuer.refreshProofs();
      assertEquals(warning?.code, "proofs_behind");
      assert(warning?.detail.includes("ENOSPC"), warning?.detail);
      await expectSigError(
        issuer.checkpoint(),
        "write_failed",
        "no space is left on the device (ENOSPC)",
      );
      assertEquals(await readCheckpoint(place), signed);
      await assertProofs(place);
      disk.remount("size=4m");
      assertEquals((await refresh(place, issuer)).size, 4);
    }, { parent: disk.path }),
);

it("concurrent writers and updates produce proofs of all events", async ({ place }) => {
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
});
