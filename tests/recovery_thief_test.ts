/**
 * An attacker with the signing key, the web server, or both, against every
 * reader. The table of SECURITY.md is what this test runs. @module
 */

import { assert, assertEquals } from "@std/assert";
import { openPinStore } from "@sig/consumer/pins";
import { createApp } from "@sig/api";
import { createIssuerSite } from "../cli/site/issuer_site.ts";
import { inWorkspace, type Workspace } from "../cli/testdata/workspace.ts";
import { Visitor } from "../web/gate/testdata/visitor.ts";
import { Browser, TestProvider } from "../web/openid/testdata/test_provider.ts";
import type { Answer } from "../web/testdata/answer.ts";
import { Person } from "../web/testdata/independent_client.ts";
import { serveLoopback } from "./kit/loopback.ts";
import { ROOT } from "./kit/process.ts";

// promise: After `sig recover` a stolen key gives nothing at readers that
//   remember the recovery key, even with the web server.

const REQUIRE = "role=deploy";

/** An issuer, whose person is Alice; Mallory gets a role from thieves only. */
class Scene {
  readonly alice = new Person();
  readonly mallory = new Person();
  readonly did: string;

  constructor(readonly of: Workspace, readonly host: string) {
    this.did = `did:web:${host.replace(":", "%3A")}`;
  }

  /** Publishes a folder. */
  async publish(from: string): Promise<void> {
    await this.replace(from, "site");
  }

  async replace(from: string, to: string): Promise<void> {
    await this.remove(to);
    await this.of.copy(from, to);
  }

  async remove(name: string): Promise<void> {
    await Deno.remove(this.of.path(name), { recursive: true }).catch(() => {});
  }

  /** Returns the login server, with the pin store `pins`. */
  async login(pins?: string): Promise<TestProvider & AsyncDisposable> {
    const store = pins === undefined ? undefined : await openPinStore(pins);
    const provider = await TestProvider.start({
      settings: { gateHosts: [GATE], gateMaxAgeMs: 0 },
      web: {
        ...{ issuers: [this.did], require: [REQUIRE], maxAgeMs: 0 },
        ...{ fetch: undefined, pins: store },
      },
    });
    const end = provider[Symbol.asyncDispose].bind(provider);
    return Object.assign(provider, {
      [Symbol.asyncDispose]: async () => {
        await end();
        await store?.close();
      },
    });
  }
}

const GATE = "wiki.example";

/** Asks whether a person may deploy; `pins` is a pin store, if it remembers. */
type Reader = (scene: Scene, who: Person, pins?: string) => Promise<string>;

/** A new cursor for each watch, so that it prints the feed from the start. */
let cursors = 0;

/** Returns what `read` finds in the output of `sig`, or the error's code. */
async function run(
  { of, host }: Scene,
  words: string,
  read: (stdout: string) => string,
): Promise<string> {
  const { code, stdout, stderr } = await of.sig(
    `${words.replace("HOST", host)} --allow-insecure`,
  );
  if (code !== 2) return read(stdout);
  return /"code":"(\w+)"|error: (\w+)/.exec(stderr)!.slice(1).join("");
}

const decision = (text: string): string => JSON.parse(text).decision;

const memoryOf = (pins?: string) =>
  pins === undefined ? "--no-pin" : `--pins ${pins}`;

const READERS: { readonly [name: string]: Reader } = {
  check: (scene, { did }, pins) =>
    run(scene, `${CHECK} ${did} ${memoryOf(pins)}`, decision),
  async api({ did }, who, pins) {
    await using store = pins === undefined
      ? undefined
      : await openPinStore(pins);
    const api = createApp({
      ...{ issuers: [did], allowPrivate: true, now: () => new Date() },
      ...{ pins: store },
    });
    const response = await api.fetch(
      new Request("http://127.0.0.1/v1/check", {
        method: "POST",
        headers: { "content-type": "application/json", host: "127.0.0.1" },
        body: JSON.stringify({
          ...{ issuer: did, subject: who.did, require: [REQUIRE] },
          max_age_seconds: 0,
        }),
      }),
    );
    const body = await response.json();
    return body.decision ?? body.code;
  },
  async openid(scene, who, pins) {
    await using provider = await scene.login(pins);
    const url = await provider.authorizeUrl();
    const { send } = await new Browser().sign(provider, who, url);
    return outcome(await send());
  },
  async gate(scene, who, pins) {
    await using provider = await scene.login(pins);
    const visitor = new Visitor(provider);
    const { url } = await visitor.walk(visitor.gate(`http://${GATE}/`));
    const id = url.hash.replace("#/sign-in/", "");
    const { send } = await visitor.login.signAt(provider, who, id);
    return outcome(await send());
  },
  ssh: (scene, { did }, pins) =>
    run(
      scene,
      `ssh-keys HOST --require ${REQUIRE} ${memoryOf(pins)}`,
      (text) => text.includes(did) ? "allow" : "deny",
    ),
  // A program that gives access for each upsert that is not void.
  watch: (scene, { did }, pins) =>
    run(
      scene,
      `watch HOST --once --from 1 --cursor c${cursors++} ${memoryOf(pins)}`,
      (text) => {
        const last = text.split("\n").filter((line) => line !== "")
          .map((line) => JSON.parse(line))
          .filter(({ event }) => event.subject === did)
          .findLast((each) => each.void !== true);
        const isGiven = last?.event.event_type === "relationship.upsert";
        return isGiven ? "allow" : "deny";
      },
    ),
};

const CHECK = `check --sig HOST --require ${REQUIRE} --format json --subject`;

/** Evidence is made without a memory. */
const EVIDENCE: typeof READERS = {
  evidence: (scene, { did }) =>
    run(
      scene,
      `evidence make --sig HOST --subject ${did} --require ${REQUIRE}`,
      (text) => JSON.parse(text).answer.decision,
    ),
};
/** A reader that remembers the feed; the others remember a proof. */
const FEED_READER: typeof READERS = {
  feed: (scene, { did }, pins) =>
    run(scene, `${CHECK} ${did} --no-proof --pins ${pins}`, decision),
};

function outcome({ status, body }: Answer): string {
  if (status === 200) return "allow";
  return body.code === "relationship_denied" ? "deny" : body.code;
}

/** The columns of the table. */
const COLUMNS = {
  first: READERS,
  evidence: EVIDENCE,
  memory: { ...FEED_READER, ...READERS },
};
type Column = keyof typeof COLUMNS;

/**
 * Asks the readers of a column about a person, with the pin stores in a folder.
 * Returns the answer of all, or of each if they differ.
 */
async function ask(
  scene: Scene,
  column: Column,
  who: Person,
  folder?: string,
): Promise<string> {
  const said = new Map<string, string>();
  for (const [name, reader] of Object.entries(COLUMNS[column])) {
    const pins = folder && scene.of.path(`${folder}/${name}.db`);
    said.set(name, await reader(scene, who, pins));
  }
  const answers = new Set(said.values());
  return answers.size === 1
    ? [...answers][0]!
    : JSON.stringify(Object.fromEntries(said));
}

/**
 * Returns a folder with the pin stores of readers that have seen what these
 * folders publish, in order.
 */
async function remember(
  scene: Scene,
  column: Column,
  folders: readonly string[],
): Promise<string> {
  const name = ["pins", column, ...folders].join(".");
  const { of } = scene;
  if (await Deno.stat(of.path(name)).catch(() => null)) return name;
  const last = folders.at(-1);
  if (last === undefined) {
    await Deno.mkdir(of.path(name), { mode: 0o700 });
    return name;
  }
  await of.copy(await remember(scene, column, folders.slice(0, -1)), name);
  await scene.publish(last);
  await ask(scene, column, scene.mallory, name);
  return name;
}

/** A row of the table: what the host serves to readers, and in which order. */
interface Row {
  /** The first two cells, as in SECURITY.md. */
  readonly cells: string;
  /** The folders that readers which remember have seen before, in order. */
  readonly before: readonly string[];
  /** The folder that is served when the readers are asked. */
  readonly serves: string;
}

const ROWS: readonly Row[] = [
  {
    cells: "the key | the owner's documents",
    before: [],
    serves: "own",
  },
  {
    cells: "the server | the attacker's key and event",
    before: ["own"],
    serves: "added",
  },
  {
    cells: "the server | the same after the statement",
    before: ["own", "recovered"],
    serves: "added-later",
  },
  {
    cells: "the server | documents from before the statement",
    before: ["own", "recovered"],
    serves: "own",
  },
  {
    cells: "the server | the attacker's recovery key and statement",
    before: ["own"],
    serves: "other-statement",
  },
  {
    cells: "both | an event of that key",
    before: ["own"],
    serves: "stolen",
  },
  {
    cells: "both | that event, with the statement",
    before: ["own", "stolen"],
    serves: "recovered",
  },
  {
    cells: "both | a later event of it, with the statement",
    before: ["own", "stolen", "recovered"],
    serves: "stolen-later",
  },
  {
    cells: "both | a key that it introduces, with the statement",
    before: ["own", "recovered"],
    serves: "introduced",
  },
  {
    cells: "both | that event, without the statement",
    before: ["own", "recovered"],
    serves: "withdrawn",
  },
  {
    cells: "both | the attacker's recovery key",
    before: ["own", "recovered"],
    serves: "other-commitment",
  },
  {
    cells: "nothing later | the owner's documents",
    before: ["own", "recovered", "other-commitment"],
    serves: "recovered",
  },
];

/** Reads the rows of the table "attacker has" of SECURITY.md. */
async function tableOfSecurity(): Promise<readonly string[]> {
  const text = await Deno.readTextFile(new URL("SECURITY.md", ROOT));
  const lines = text.split("\n");
  const head = lines.findIndex((line) => /^\| attacker has\s/.test(line));
  assert(head >= 0, "SECURITY.md has no table of readers");
  const rows = lines.slice(head + 2);
  return rows.slice(0, rows.findIndex((line) => !line.startsWith("|")))
    .map((line) =>
      line.split("|").slice(1, -1).map((cell) =>
        cell.trim().replaceAll("`", "")
      ).join(" | ")
    );
}

/** Makes every folder that a host serves in {@linkcode ROWS}. */
async function makeFolders(scene: Scene): Promise<void> {
  const { of, host, alice, mallory } = scene;
  await of.ok(`init ${host} --dir $D/own --allow-insecure`);
  await of.ok(
    `upsert --dir $D/own --subject ${alice.did} --type employee --role deploy`,
  );
  await of.ok("recovery create --dir $D/own --out $D/r1.jwk");
  await of.copy("keys", "stolen-keys");
  const asThief = { env: { SIG_KEYS_DIR: of.path("stolen-keys") } };
  const asStranger = { env: { SIG_KEYS_DIR: of.path("other-keys") } };
  const grant = (dir: string, id: string) =>
    `upsert --dir $D/${dir} --subject ${mallory.did} --type employee --role deploy --relationship-id ${id}`;
  const from = async (folder: string, to: string) => {
    await of.copy(folder, to);
    await scene.remove(`${to}/.sig`);
  };
  const addKey = async (dir: string) => {
    await of.says(`rotate-key --dir $D/${dir} --kid other-1 --unintroduced`, {
      ...{ ...asStranger, code: 0 },
    });
    await of.ok(`${grant(dir, "r-1")} --kid other-1`, asStranger);
  };
  await from("own", "added");
  await addKey("added");

  await from("own", "other-statement");
  await of.ok("key generate --out $D/t0.jwk");
  await of.edit("other-statement/.well-known/sig.json", (metadata) => {
    delete metadata.recovery;
  });
  await of.says(
    "recovery create --dir $D/other-statement --out $D/t1.jwk",
    { ...asThief, code: 0 },
  );
  await of.ok(
    "recover --dir $D/other-statement --recovery-key $D/t1.jwk --next $D/t2.jwk --lost orgsign-1 --kid other-1 --yes",
    asStranger,
  );
  await of.ok(grant("other-statement", "r-1"), asStranger);

  // The thief signs an event; the owner brings it back, recovers, and publishes.
  await from("own", "stolen");
  await of.ok(grant("stolen", "r-1"), asThief);
  await from("stolen", "recovered");
  await of.ok(
    "recover --dir $D/recovered --recovery-key $D/r1.jwk --next $D/r2.jwk --stolen orgsign-1=1 --yes",
  );
  await from("recovered", "added-later");
  await addKey("added-later");

  await from("recovered", "withdrawn");
  const sigJson = "withdrawn/.well-known/sig.json";
  const genuine = await of.read(sigJson);
  await of.edit(sigJson, (metadata) => delete metadata.recovery);
  await of.says(`${grant("withdrawn", "r-2")} --kid orgsign-1`, {
    ...{ ...asThief, code: 0 },
  });
  await from("withdrawn", "stolen-later");
  await of.write("stolen-later/.well-known/sig.json", genuine);
  await of.says("checkpoint --dir $D/withdrawn --drop orgsign-2", {
    ...{ ...asThief, code: 0 },
  });

  // The key that ended signs a checkpoint with a further key.
  await from("withdrawn", "introduced");
  await of.says("rotate-key --dir $D/introduced --kid other-2", {
    ...{ ...asThief, code: 0 },
  });
  await of.says(grant("introduced", "r-3"), { ...asThief, code: 0 });
  await of.write("introduced/.well-known/sig.json", genuine);

  await from("withdrawn", "other-commitment");
  await of.says(
    "recovery create --dir $D/other-commitment --out $D/t3.jwk",
    { ...asThief, code: 0 },
  );

  await from("own", "lost");
  await of.ok(
    "recover --dir $D/lost --recovery-key $D/r1.jwk --next $D/r3.jwk --lost orgsign-1 --yes",
    { env: { SIG_KEYS_DIR: of.path("new-keys") } },
  );
}

// promise: With a recovery key, a lost signing key needs no acknowledgement at
//   any reader.

Deno.test("an attacker against every reader, and a lost key", async (t) => {
  await inWorkspace(async (of) => {
    // It does not wait until a change of the folder is a second old.
    const now = () => new Date(Date.now() + 60_000);
    await using server = serveLoopback(
      createIssuerSite(of.path("site"), { now }),
    );
    const scene = new Scene(of, server.host);
    await makeFolders(scene);
    await t.step(
      "every reader says of each attack what SECURITY.md says",
      async () => {
        const table: string[] = [];
        for (const { cells, before, serves } of ROWS) {
          const row = [cells];
          for (const column of Object.keys(COLUMNS) as Column[]) {
            const folder = column === "memory" ? "pins.now" : undefined;
            if (folder !== undefined) {
              const known = await remember(scene, column, before);
              await scene.replace(known, folder);
            }
            await scene.publish(serves);
            row.push(await ask(scene, column, scene.mallory, folder));
          }
          table.push(row.join(" | "));
        }
        assertEquals(table, await tableOfSecurity());
      },
    );

    await t.step(
      "the statement ends sessions and forward auth of a person whom the thief added",
      async () => {
        await scene.publish("stolen");
        await using provider = await scene.login(scene.of.path("login.db"));
        const { access_token, refresh_token } = await new Browser().tokens(
          ...[provider, scene.mallory] as const,
        );
        const visitor = new Visitor(provider);
        await visitor.logIn(scene.mallory, `http://${GATE}/`);
        assertEquals((await visitor.ask(GATE)).status, 200);
        await scene.publish("recovered");
        assertEquals((await visitor.ask(GATE)).status, 401);
        assertEquals((await provider.userinfo(access_token)).status, 401);
        const { status, body } = await provider.refresh(refresh_token);
        assertEquals([status, body.error], [400, "invalid_grant"]);
      },
    );

    await t.step("a lost key needs no acknowledgement anywhere", async () => {
      const { of, alice, host } = scene;
      const cosign = () =>
        run(
          scene,
          `cosign HOST --key $D/t0.jwk --name cosigner.example/1 --pins $D/cosign.db`,
          () => "cosigned",
        );
      await scene.publish("own");
      assertEquals(await cosign(), "cosigned");
      const pins = await remember(scene, "memory", ["own"]);
      await scene.publish("lost");
      assertEquals(await ask(scene, "memory", alice, pins), "allow");
      for (const reader of ["feed", "check"]) {
        const { warnings } = await of.json(
          `check --sig ${host} --subject ${alice.did} --require ${REQUIRE} --allow-insecure --pins $D/${pins}/${reader}.db`,
        );
        assertEquals(warnings, [], reader);
      }
      assertEquals(await ask(scene, "first", alice), "allow");
      assertEquals(await cosign(), "cosigned");
      const made = `evidence make --sig ${host} --subject ${alice.did}`;
      await of.ok(
        `${made} --require ${REQUIRE} --allow-insecure --out $D/alice.json`,
      );
      await of.says("evidence verify $D/alice.json --allow-insecure", {
        out: "sound",
      });
    });

    await t.step(
      "evidence has the statements, and none of them can be removed",
      async () => {
        const { of, host, mallory } = scene;
        await scene.publish("recovered");
        const made = `evidence make --sig ${host} --subject ${mallory.did}`;
        await of.says(
          `${made} --require ${REQUIRE} --allow-insecure --out $D/e.json`,
          { code: 1 },
        );
        const verify = "evidence verify $D/e.json --allow-insecure";
        await of.says(verify, { out: "sound" });
        await of.edit("e.json", (evidence) => {
          evidence.recovery.statements = [];
        });
        await of.says(verify, {
          ...{ code: 1, out: "its statements are not those of the checkpoint" },
        });
      },
    );
  });
});
