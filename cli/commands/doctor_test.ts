import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { importSigningKey } from "@sig/jose";
import { makeProofs } from "../../tests/kit/proofs.ts";
import { doctor } from "../testdata/doctor.ts";
import {
  FEED,
  type Given,
  issuerTest as test,
  type Workspace,
} from "../testdata/workspace.ts";

const UPSERT =
  "upsert --dir $D/acme --type advisor --subject did:web:eve.example";
const ROTATE = "rotate-key --dir $D/acme --kid k2";
const INIT = "checkpoint --dir $D/acme --init";
const KEY = "keys/acme.example/orgsign-1.jwk";

test("doctor reports nothing about a new issuer", async (workspace) => {
  assertEquals(await doctor(workspace), { code: 0, found: [] });
  assertStringIncludes(
    await workspace.ok("doctor $D/acme"),
    "no_recovery_key",
  );
  await workspace.ok("recovery create --dir $D/acme --out $D/recovery.jwk");
  assertEquals(await workspace.ok("doctor $D/acme"), "healthy\n");
});

test("doctor finds a recovery key in the key store, and a faulty statement", async (workspace) => {
  await workspace.ok("recovery create --dir $D/acme --out $D/recovery.jwk");
  await workspace.copy("recovery.jwk", "keys/acme.example/spare.jwk");
  const [stored] = (await doctor(workspace)).found;
  assertEquals(stored, ["recovery_key_stored_here", "error"]);
  await workspace.edit(
    "acme/.well-known/sig.json",
    ({ recovery }) => recovery.statements.push("e30.e30.e30"),
  );
  const { code, found } = await doctor(workspace);
  assertEquals([code, found], [1, [["recovery_faulty", "error"]]]);
});

/** The cause of a finding: commands, or a change of the files. */
type Cause = readonly string[] | ((workspace: Workspace) => Promise<unknown>);

const chmod = (path: string, mode: number): Cause => (workspace) =>
  Deno.chmod(workspace.path(path), mode);
const remove = (path: string): Cause => (workspace) =>
  Deno.remove(workspace.path(`acme/.well-known/${path}`), { recursive: true });
const at = (day: string) => ({ io: { now: () => new Date(day) } });

/** Each finding about a directory, with its severity and cause. */
const LOCAL: readonly (readonly [string, string, Cause, Given?])[] = [
  ["signature_invalid", "error", async (workspace) => {
    const [first, ...rest] = (await workspace.read(FEED)).split("\n");
    const line = JSON.parse(first!);
    const other = line.signature[0] === "A" ? "B" : "A";
    line.signature = other + line.signature.slice(1);
    await workspace.write(
      FEED,
      [JSON.stringify(line), ...rest].join("\n"),
    );
  }],
  ["did_document_missing", "warning", remove("did.json")],
  ["issued_at_future", "warning", [], at("2025-01-01")],
  ["personal_data", "warning", [`${UPSERT} --title eve@acme.example`]],
  ["second_active_relationship", "warning", [UPSERT, UPSERT]],
  ["people_file_invalid", "error", async (workspace) => {
    await workspace.write(
      "acme/.sig/people.csv",
      "subject,person\nnobody,1\ndid:web:alice.example,1\ndid:web:alice.example,2\n",
    );
  }],
  ["people_file_writable", "error", async (workspace) => {
    await workspace.write("acme/.sig/people.csv", "subject,name\n");
    await Deno.chmod(workspace.path("acme/.sig/people.csv"), 0o666);
  }],
  ["persons_disagree", "warning", async (workspace) => {
    await workspace.write(
      "acme/.sig/people.csv",
      "subject,person\ndid:web:alice.example,1\ndid:web:bob.example,1\n",
    );
  }],
  ["key_old", "warning", [], at("2027-02-01")],
  ["key_unauthorised", "warning", async (workspace) => {
    await workspace.ok(ROTATE);
    await workspace.edit(
      "acme/.well-known/did.json",
      (did) => did.assertionMethod.pop(),
    );
  }],
  ["folder_open_to_others", "warning", chmod("acme/.sig", 0o755)],
  ["key_open_to_others", "error", chmod(KEY, 0o644)],
  // A key that has not signed yet.
  ["key_open_to_others", "error", async (workspace) => {
    await workspace.ok(ROTATE);
    await Deno.chmod(workspace.path("keys/acme.example/k2.jwk"), 0o640);
  }],
  [
    "private_key_in_jwks",
    "error",
    (workspace) =>
      workspace.edit(
        "acme/.well-known/jwks.json",
        ({ keys: [key] }) => key.d = key.x,
      ),
  ],
];

/** Findings about proofs. */
const PROOFS: typeof LOCAL = [
  ["checkpoint_unusable", "error", remove("sig/checkpoint")],
  ["checkpoint_differs", "error", async (workspace) => {
    // A valid signature over another feed: the bytes of its first line differ.
    const lines = (await workspace.read(FEED)).split("\n");
    const { payload, protected: header, signature } = JSON.parse(lines[0]!);
    lines[0] = JSON.stringify({ payload, protected: header, signature });
    await workspace.write(FEED, lines.join("\n"));
  }],
  ["checkpoint_behind", "info", async (workspace) => {
    const path = "acme/.well-known/sig/checkpoint";
    const signed = await workspace.read(path);
    await workspace.ok(UPSERT);
    await workspace.write(path, signed);
  }],
  ["checkpoint_old", "info", [], at("2026-01-03")],
  ["proof_file_damaged", "warning", async (workspace) => {
    const path = workspace.path("acme/.well-known/sig/tile/0/000.p/3");
    const bytes = await Deno.readFile(path);
    bytes[40]! ^= 1;
    await Deno.writeFile(path, bytes);
  }],
  ["proof_file_damaged", "warning", remove("sig/state")],
];

for (const [table, first] of [[LOCAL, []], [PROOFS, [INIT]]] as const) {
  for (const [number, [code, severity, cause, given]] of table.entries()) {
    test(`doctor reports ${code} and nothing else (${number})`, async (workspace) => {
      const commands = typeof cause === "function" ? [] : cause;
      for (const words of [...first, ...commands]) {
        await workspace.says(words);
      }
      if (typeof cause === "function") await cause(workspace);
      assertEquals(await doctor(workspace, ["$D/acme"], given), {
        code: severity === "error" ? 1 : 0,
        found: [[code, severity]],
      });
    });
  }
}

test("doctor reports nothing about an issuer with proofs", async (workspace) => {
  await workspace.ok(INIT);
  assertEquals(await doctor(workspace), { code: 0, found: [] });
});

test("doctor reports proofs of a relationship that changes its subject", async (workspace) => {
  await workspace.ok(INIT);
  await workspace.sig(
    "upsert --dir $D/acme --type employee --relationship-id r1 --subject did:web:eve.example --allow-warnings",
  );
  const before = await doctor(workspace);
  // Signed as other software would: this implementation refuses it.
  const folder = workspace.path("acme/.well-known/sig");
  const kept = workspace.path("keys/acme.example/orgsign-1.jwk");
  const jwk = JSON.parse(await Deno.readTextFile(kept));
  const lines = (await Deno.readTextFile(`${folder}/events.jsonl`)).trim();
  const files = await makeProofs({
    origin: "https://acme.example",
    keys: [await importSigningKey(jwk)],
    lines: lines.split("\n"),
    time: Date.UTC(2026, 0, 1) / 1000,
  });
  for (const [path, bytes] of files) {
    await workspace.write(`acme${path}`, bytes);
  }
  assertEquals(before.found, [
    ["subject_changed", "warning"],
    ["checkpoint_behind", "info"],
  ]);
  assertEquals((await doctor(workspace)).found, [
    ["subject_changed", "warning"],
    ["proofs_of_changed_subject", "error"],
  ]);
});

test("doctor checks the key file that SIG_KEY_FILE names", async (workspace) => {
  const SIG_KEY_FILE = workspace.path("named.jwk");
  await Deno.copyFile(workspace.path(KEY), SIG_KEY_FILE);
  const given = { env: { SIG_KEY_FILE, SIG_KEYS_DIR: undefined } };
  const examined = () => doctor(workspace, ["$D/acme"], given);
  await Deno.chmod(SIG_KEY_FILE, 0o604);
  const found = [["key_open_to_others", "error"]];
  assertEquals(await examined(), { code: 1, found });
  await Deno.chmod(SIG_KEY_FILE, 0o600);
  assertEquals(await examined(), { code: 0, found: [] });
});

test("doctor reports mail addresses, phone numbers and birth dates as personal data, but not DIDs and times", async (workspace) => {
  const count = async () => (await doctor(workspace)).found.length;
  const add = (label: string) =>
    workspace.sig(`${UPSERT} --relationship-id r9 --label '${label}'`);
  for (
    const label of ["2026-01-31", "did:web:a.example", "room 12", "+1", "a@b"]
  ) await add(label);
  assertEquals(await count(), 0);
  await add("+49 (0)30 1234567");
  assertEquals(await count(), 1);
  await add("born 1990-12-31");
  assertEquals(await count(), 2);
});

test("doctor --against distinguishes an equal, older, newer and different copy, and another issuer", async (workspace) => {
  await workspace.copy("acme", "copy");
  const expect = async (
    here: string,
    there: string,
    ...found: readonly (readonly [string, string])[]
  ) =>
    assertEquals(await doctor(workspace, [here, "--against", there]), {
      code: found.some(([, severity]) => severity === "error") ? 1 : 0,
      found,
    });
  const rewrite = async (text: string) => {
    await workspace.write(FEED, text);
    await Deno.remove(workspace.path("acme/.sig"), { recursive: true });
  };
  await expect("$D/acme", "$D/copy");
  await workspace.ok(UPSERT);
  await expect("$D/acme", "$D/copy", ["published_behind", "warning"]);
  await expect("$D/copy", "$D/acme", ["published_ahead", "error"]);
  await workspace.ok("init other.example --dir $D/other");
  await expect("$D/acme", "$D/other", ["published_other_issuer", "error"]);
  await rewrite((await workspace.read(FEED)).replace(/\n.*$/s, "\n"));
  await workspace.ok(UPSERT);
  await expect("$D/acme", "$D/copy", ["published_differs", "error"]);
  // The same state with another history, which readers with a pin refuse.
  await rewrite("");
  const log = await workspace.ok("log $D/copy --format json");
  const drafts = log.trimEnd().split("\n").map((line) => {
    const { spec_version: _, issuer, sequence, event_id, ...draft } = JSON
      .parse(line);
    assert(issuer && sequence && event_id);
    delete draft.status;
    delete draft.revokes_relationship_id;
    return `${JSON.stringify(draft)}\n`;
  });
  await workspace.write("drafts.jsonl", drafts.join(""));
  await workspace.ok("import --dir $D/acme $D/drafts.jsonl");
  await workspace.ok("diff $D/acme $D/copy");
  await expect("$D/acme", "$D/copy", ["published_differs", "error"]);
});

test("a finding is printed with its reason and its fix, without the text of events", async (workspace) => {
  await workspace.ok(`${UPSERT} --title eve@acme.example`);
  const text = await workspace.ok("doctor $D/acme");
  assertStringIncludes(text, "warning: personal_data: 1 events");
  assertStringIncludes(text, "  fix: ");
  assert(!text.includes("eve@"));
});
