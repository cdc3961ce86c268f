import { assert, assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import {
  createFileKeyStore,
  createFileStore,
  type IssuerBackup,
  restoreBackup,
  verifyBackup,
} from "@sig/issuer";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { crashesOf } from "./testdata/crashes.ts";
import {
  forged,
  HOST,
  init,
  modeOf,
  NOW,
  type Place,
  placeTest as test,
  readFeed,
  upsert,
  walk,
  withPlace,
} from "./testdata/support.ts";

// promise: A restore verifies everything before it writes, and never overwrites
//   other data.

const FEED = "/.well-known/sig/events.jsonl";
const NAMES = "/.sig/people.csv";
const OIDC = "/.sig/oidc-keys.json";

/**
 * A backup of an issuer with three events, names, and a login server's keys.
 */
function it(
  name: string,
  run: (of: {
    readonly backup: IssuerBackup;
    readonly place: Place;
    readonly source: Place;
  }) => Promise<void>,
): void {
  test(name, async ({ issuer, place: source }) => {
    const keys = createFileKeyStore(source.keysDir);
    await issuer.rotateKey({ kid: "key-2" });
    await issuer.appendAll([upsert(), upsert(), upsert()]);
    await Deno.writeTextFile(`${source.dir}${NAMES}`, "subject,name\n");
    const { files, keys: held } = await issuer.backup({ keys });
    const oidc = new TextEncoder().encode('{"keys":[]}');
    const backup = { files: new Map([...files, [OIDC, oidc]]), keys: held };
    const empty = { empty: true };
    await withPlace((place) => run({ backup, place, source }), empty);
  });
}

function restore(
  backup: IssuerBackup,
  { dir, keysDir }: Pick<Place, "dir" | "keysDir">,
  onStep?: (step: string) => void,
) {
  const faults = onStep === undefined ? {} : { onStep };
  const store = createFileStore(dir, { faults });
  return restoreBackup(backup, {
    ...{ store, faults, now: () => NOW },
    keys: createFileKeyStore(keysDir),
  }).finally(() => store.close());
}

/** Every file of a place except the lock, the index and `.gitignore`. */
const filesOf = ({ base }: Pick<Place, "base">): ReadonlyMap<string, string> =>
  new Map(
    [...walk(base)].filter((path) =>
      !/\/\.sig\/(?:lock|index|\.git)/.test(path)
    )
      .map((path) => [path, Deno.readTextFileSync(base + path)]),
  );

it("a backup restores the same files, and secret files are readable by the owner only", async ({ backup, place, source }) => {
  assertEquals([...backup.keys.keys()], ["orgsign-1", "key-2"]);
  const done = await restore(backup, place);
  assertEquals(done, {
    issuer: "did:web:acme.example",
    ...{ last_sequence: 3, restored: 3, has_proofs: false },
    kids: ["orgsign-1", "key-2"],
  });
  const restored = new Map(filesOf(place));
  assertEquals(restored.get(`/issuer${OIDC}`), '{"keys":[]}');
  restored.delete(`/issuer${OIDC}`);
  assertEquals(restored, filesOf(source));
  assertEquals(
    [
      ...[NAMES, OIDC, FEED].map((path) => modeOf(place.dir + path)),
      ...["", "/orgsign-1.jwk", "/key-2.jwk"]
        .map((path) => modeOf(`${place.keysDir}/${HOST}${path}`)),
    ],
    [0o600, 0o600, 0o644, 0o700, 0o600, 0o600],
  );
  await (await place.open()).append(upsert());
  assertEquals((await readFeed(place)).length, 4);
  // Existing events are not restored again.
  await Deno.writeTextFile(place.feed, await Deno.readTextFile(source.feed));
  assertEquals((await restore(backup, place)).restored, 0);
});

test("refuses a backup without the newest private key", async ({ issuer, place }) => {
  await issuer.rotateKey({ kid: "key-2" });
  await Deno.remove(`${place.keysDir}/${HOST}/key-2.jwk`);
  const keys = createFileKeyStore(place.keysDir);
  await expectSigError(
    () => issuer.backup({ keys }),
    "signing_key_not_found",
    'Cannot back up the issuer: the private key "key-2" is not in the key store',
  );
  const [, { x }] = JSON.parse(
    await Deno.readTextFile(`${place.dir}/.well-known/jwks.json`),
  ).keys;
  const own = { x, key: { reference: "SHA256:…" } };
  const backup = await issuer.backup({ keys, own });
  assertEquals(backup.keys.get("key-2"), { reference: "SHA256:…" });
  // No key store could restore a key with this kid.
  for (const name of ["did.json", "jwks.json"]) {
    const path = `${place.dir}/.well-known/${name}`;
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replaceAll("key-2", "key/2"));
  }
  await expectSigError(
    () => issuer.backup({ keys, own }),
    "invalid_identifier",
    'Cannot back up the issuer: no key store could keep a key of the kid "key/2"',
  );
});

it("a crash at any step of a restore leaves files of the backup, and repeating it completes it", async ({ backup, place }) => {
  const crashes = await crashesOf(
    place,
    ({ onStep }) => restore(backup, place, onStep),
  );
  assert(crashes.length > 12, `${crashes.length}`);
  const whole = filesOf(place);
  // Files of an interrupted write, which are never read.
  const kept = () =>
    [...filesOf(place)].filter(([path]) => !path.endsWith(".tmp"));
  for (const [at, crash] of crashes.entries()) {
    crash.restore();
    for (const [path, text] of kept()) {
      assertEquals(text, whole.get(path), `${path} after ${crash.step}`);
    }
    const isWhole = filesOf(place).has("/issuer/.well-known/sig.json");
    assertEquals(isWhole, at === crashes.length - 1, crash.step);
    await restore(backup, place);
    assertEquals(new Map(kept()), whole, crash.step);
  }
});

type Row<C> = readonly [
  name: string,
  change: C,
  code: ErrorCode,
  message: string,
];

const REFUSED: readonly Row<
  (backup: IssuerBackup, place: Place) => Promise<unknown>
>[] = [
  [
    "another key of the same kid",
    async (_, place) => {
      await init(place);
      await Deno.remove(place.dir, { recursive: true });
    },
    "kid_exists",
    'the key store has another key "orgsign-1" of "acme.example"',
  ],
  [
    "another issuer's directory",
    (_, place) => init(place, { did: "did:web:other.example" }),
    "issuer_exists",
    'the directory is that of "did:web:other.example"',
  ],
  [
    "a feed with more events",
    async (backup, place) => {
      await restore(backup, place);
      await (await place.open()).append(upsert());
    },
    "feed_rolled_back",
    "the feed here has 4 events, the backup 3",
  ],
  [
    "another feed",
    async (backup, place) => {
      await restore(backup, place);
      const feed = await Deno.readTextFile(place.feed);
      const [first, second, third] = feed.split("\n");
      await Deno.writeTextFile(place.feed, `${first}\n${third}\n${second}\n`);
    },
    "feed_rewritten",
    "it and the backup have different lines from sequence 2 on",
  ],
  [
    "a key set with another key",
    async (backup, place) => {
      await restore(backup, place);
      await (await place.open()).rotateKey({ kid: "key-3" });
    },
    "feed_rolled_back",
    '"/.well-known/jwks.json" has other content here, which may be newer',
  ],
  [
    "other names",
    async (backup, place) => {
      await restore(backup, place);
      await Deno.writeTextFile(`${place.dir}${NAMES}`, "subject,name\na,b\n");
    },
    "feed_rolled_back",
    '"/.sig/people.csv" has other content here, which may be newer',
  ],
];

for (const [name, change, code, message] of REFUSED) {
  it(`a restore over ${name} is refused, and changes nothing`, async ({ backup, place }) => {
    await change(backup, place);
    const before = filesOf(place);
    await expectSigError(() => restore(backup, place), code, message);
    assertEquals(filesOf(place), before);
  });
}

it("a restore completes a feed that is the beginning of the backup's, and saves an unfinished line", async ({ backup, place, source }) => {
  await restore(backup, place);
  const feed = await Deno.readTextFile(place.feed);
  const [first] = feed.split("\n");
  await Deno.writeTextFile(place.feed, `${first}\n{"protec`);
  assertEquals((await restore(backup, place)).restored, 2);
  assertEquals(
    await Deno.readTextFile(place.feed),
    await Deno.readTextFile(source.feed),
  );
  const torn = [...walk(place.dir)].filter((path) => path.includes("torn"));
  assertEquals(torn.length, 1);
});

const WITH: readonly Row<(backup: IssuerBackup) => IssuerBackup>[] = [
  [
    "a file from elsewhere",
    (backup) => withFile(backup, "/../evil", "x"),
    "invalid_request",
    '"/../evil" is not a file of it',
  ],
  [
    "a feed with an unfinished last line",
    (backup) =>
      withFile(backup, FEED, (text) => text.slice(0, text.length - 1)),
    "incomplete_line",
    "its feed has no end",
  ],
  [
    "an altered event",
    (backup) => withFile(backup, FEED, forged),
    "signature_invalid",
    "Cannot verify signature",
  ],
  [
    "no feed",
    ({ files, keys }) => ({
      files: new Map([...files].filter(([path]) => path !== FEED)),
      keys,
    }),
    "incomplete_line",
    "its feed has no end",
  ],
  // A kid of another key, and a kid that leads to another folder.
  ...["orgsign-1", "../key-2"].map((kid): typeof WITH[number] => [
    `the second key as ${kid}`,
    ({ files, keys }) => ({
      files,
      keys: new Map([...keys, [kid, keys.get("key-2")!]]),
    }),
    "invalid_key",
    `"${kid}" is not a key of this issuer`,
  ]),
];

function withFile(
  { files, keys }: IssuerBackup,
  path: string,
  content: string | ((text: string) => string),
): IssuerBackup {
  const before = new TextDecoder().decode(files.get(path));
  const text = typeof content === "string" ? content : content(before);
  return {
    files: new Map(files).set(path, new TextEncoder().encode(text)),
    keys,
  };
}

for (const [name, change, code, message] of WITH) {
  it(`a backup with ${name} is refused, and nothing is made`, async ({ backup, place }) => {
    const changed = change(backup);
    await expectSigError(() => verifyBackup(changed), code, message);
    await expectSigError(() => restore(changed, place), code, message);
    assertEquals([...Deno.readDirSync(place.base)], []);
  });
}
