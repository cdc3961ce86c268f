import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { importSigningKey } from "@sig/jose";
import { makeProofs } from "../../tests/kit/proofs.ts";
import { doctor } from "../testdata/doctor.ts";
import {
  type Given,
  issuerTest,
  withIssuer,
  type Workspace,
  workspaceTest,
} from "../testdata/workspace.ts";

async function sig(workspace: Workspace, words: string): Promise<void> {
  const { code, stderr } = await workspace.sig(words.split(" "));
  assertEquals(code, 0, stderr);
}

const UPSERT =
  "upsert --dir $D/acme --type advisor --subject did:web:eve.example";

async function edit(
  workspace: Workspace,
  name: string,
  // deno-lint-ignore no-explicit-any -- a document that is made faulty
  change: (document: any) => void,
): Promise<void> {
  const path = workspace.path(`acme/.well-known/${name}`);
  const document = JSON.parse(await Deno.readTextFile(path));
  change(document);
  await Deno.writeTextFile(path, JSON.stringify(document));
}

async function copy(workspace: Workspace): Promise<void> {
  await Deno.mkdir(workspace.path("copy/.well-known/sig"), { recursive: true });
  for (
    const name of ["did.json", "jwks.json", "sig.json", "sig/events.jsonl"]
  ) {
    await Deno.copyFile(
      workspace.path(`acme/.well-known/${name}`),
      workspace.path(`copy/.well-known/${name}`),
    );
  }
}

issuerTest("an issuer that this program made is healthy", async (workspace) => {
  assertEquals(await doctor(workspace), { code: 0, found: [] });
  const text = await workspace.sig(["doctor", "$D/acme"]);
  assertEquals([text.code, text.stdout], [0, "healthy\n"]);
});

/** Each finding that a directory can have, and what brings it about. */
const LOCAL: readonly (readonly [
  string,
  string,
  (workspace: Workspace) => Promise<void>,
  Given?,
])[] = [
  ["signature_invalid", "error", async (workspace) => {
    const path = workspace.path("acme/.well-known/sig/events.jsonl");
    const [first, ...rest] = (await Deno.readTextFile(path)).split("\n");
    const line = JSON.parse(first!);
    line.signature = `${line.signature[0] === "A" ? "B" : "A"}${
      line.signature.slice(1)
    }`;
    await Deno.writeTextFile(path, [JSON.stringify(line), ...rest].join("\n"));
  }],
  [
    "did_document_missing",
    "warning",
    (workspace) => Deno.remove(workspace.path("acme/.well-known/did.json")),
  ],
  ["issued_at_future", "warning", () => Promise.resolve(), {
    io: { now: () => new Date(Date.UTC(2025, 0)) },
  }],
  [
    "personal_data",
    "warning",
    (workspace) => sig(workspace, `${UPSERT} --title eve@acme.example`),
  ],
  [
    "second_active_relationship",
    "warning",
    async (workspace) => {
      await sig(workspace, UPSERT);
      await sig(workspace, UPSERT);
    },
  ],
  [
    "expired_not_ended",
    "info",
    (workspace) =>
      sig(
        workspace,
        `${UPSERT} --valid-from 2020-01-01T00:00:00Z --valid-until 2025-01-01T00:00:00Z`,
      ),
  ],
  ["key_old", "warning", () => Promise.resolve(), {
    io: { now: () => new Date(Date.UTC(2027, 1)) },
  }],
  ["key_unauthorised", "warning", async (workspace) => {
    await sig(workspace, "rotate-key --dir $D/acme --kid k2");
    await edit(workspace, "did.json", (did) => did.assertionMethod.pop());
  }],
  ["key_unused", "info", async (workspace) => {
    await sig(workspace, "rotate-key --dir $D/acme --kid k2");
    await sig(workspace, "rotate-key --dir $D/acme --kid k3");
  }],
  [
    "other_draft_document",
    "warning",
    (workspace) =>
      Deno.writeTextFile(
        workspace.path("acme/.well-known/sig-metadata.json"),
        "{}",
      ),
  ],
  [
    "folder_open_to_others",
    "warning",
    (workspace) => Deno.chmod(workspace.path("acme/.sig"), 0o755),
  ],
  [
    "document_closed_to_others",
    "info",
    (workspace) =>
      Deno.chmod(workspace.path("acme/.well-known/sig/events.jsonl"), 0o600),
  ],
  [
    "key_open_to_others",
    "error",
    (workspace) =>
      Deno.chmod(workspace.path("keys/acme.example/orgsign-1.jwk"), 0o644),
  ],
  // A key that has signed nothing yet.
  ["key_open_to_others", "error", async (workspace) => {
    await sig(workspace, "rotate-key --dir $D/acme --kid k2");
    await Deno.chmod(workspace.path("keys/acme.example/k2.jwk"), 0o640);
  }],
  ["private_key_in_jwks", "error", async (workspace) => {
    await edit(workspace, "jwks.json", (jwks) => {
      jwks.keys[0].d = jwks.keys[0].x;
    });
  }],
];

Deno.test("each trouble of a directory is found, alone, and an error exits 1", async (t) => {
  for (const [code, severity, bring, given] of LOCAL) {
    await t.step(code, () =>
      withIssuer(async (workspace) => {
        await bring(workspace);
        const expected = severity === "error" ? 1 : 0;
        assertEquals(await doctor(workspace, ["$D/acme"], given), {
          code: expected,
          found: [[code, severity]],
        });
      }));
  }
});

/** Findings about proofs, and what brings each of them about. */
const PROOFS: readonly (readonly [
  code: string,
  severity: string,
  bring: (workspace: Workspace, folder: string) => Promise<void>,
  given?: Given,
])[] = [
  [
    "checkpoint_unusable",
    "error",
    (_, folder) => Deno.remove(`${folder}/checkpoint`),
  ],
  ["checkpoint_differs", "error", async (_, folder) => {
    // A good signature of another feed: the one that this one was.
    const lines = (await Deno.readTextFile(`${folder}/events.jsonl`))
      .split("\n");
    const { payload, protected: header, signature } = JSON.parse(lines[0]!);
    lines[0] = JSON.stringify({ payload, protected: header, signature });
    await Deno.writeTextFile(`${folder}/events.jsonl`, lines.join("\n"));
  }],
  ["checkpoint_behind", "info", async (workspace, folder) => {
    const signed = await Deno.readTextFile(`${folder}/checkpoint`);
    await sig(workspace, UPSERT);
    await Deno.writeTextFile(`${folder}/checkpoint`, signed);
  }],
  ["checkpoint_old", "info", () => Promise.resolve(), {
    io: { now: () => new Date(Date.UTC(2026, 0, 3)) },
  }],
  ["proof_file_damaged", "warning", async (_, folder) => {
    const path = `${folder}/tile/0/000.p/3`;
    const bytes = await Deno.readFile(path);
    bytes[40]! ^= 1;
    await Deno.writeFile(path, bytes);
  }],
  [
    "proof_file_damaged",
    "warning",
    (_, folder) => Deno.remove(`${folder}/state`, { recursive: true }),
  ],
];

Deno.test("each finding about proofs is made where it should be, and no other", async (t) => {
  for (const [code, severity, bring, given] of PROOFS) {
    await t.step(code, () =>
      withIssuer(async (workspace) => {
        await sig(workspace, "checkpoint --dir $D/acme --init");
        assertEquals(await doctor(workspace), { code: 0, found: [] });
        await bring(workspace, workspace.path("acme/.well-known/sig"));
        const { found } = await doctor(workspace, ["$D/acme"], given);
        assertEquals(found, [[code, severity]]);
      }));
  }
});

issuerTest(
  "proofs of a relationship that changes its subject are found",
  async (workspace) => {
    await sig(workspace, "checkpoint --dir $D/acme --init");
    await sig(
      workspace,
      "upsert --dir $D/acme --type employee --relationship-id r1 --subject did:web:eve.example --allow-warnings",
    );
    const before = await doctor(workspace);
    // As another issuer's program signs it; ours refuses.
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
      const place = workspace.path(`acme${path}`);
      await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), {
        recursive: true,
      });
      await Deno.writeFile(place, bytes);
    }
    assertEquals(before.found, [
      ["subject_changed", "warning"],
      ["checkpoint_behind", "info"],
    ]);
    assertEquals((await doctor(workspace)).found, [
      ["subject_changed", "warning"],
      ["proofs_of_changed_subject", "error"],
    ]);
  },
);

issuerTest(
  "a key file that the environment names is looked at too",
  async (workspace) => {
    const file = workspace.path("keys/acme.example/orgsign-1.jwk");
    const elsewhere = workspace.path("named.jwk");
    await Deno.copyFile(file, elsewhere);
    const given = {
      env: { SIG_KEY_FILE: elsewhere, SIG_KEYS_DIR: undefined },
    };
    await Deno.chmod(elsewhere, 0o604);
    assertEquals(await doctor(workspace, ["$D/acme"], given), {
      code: 1,
      found: [["key_open_to_others", "error"]],
    });
    await Deno.chmod(elsewhere, 0o600);
    assertEquals(await doctor(workspace, ["$D/acme"], given), {
      code: 0,
      found: [],
    });
  },
);

issuerTest(
  "mail addresses, phone numbers and birth dates are personal, DIDs and times are not",
  async (workspace) => {
    const count = async () => (await doctor(workspace)).found.length;
    const add = (label: string, id: string) =>
      workspace.sig([
        ...UPSERT.split(" "),
        ...["--relationship-id", id, "--label", label],
      ]);
    for (
      const label of ["2026-01-31", "did:web:a.example", "room 12", "+1", "a@b"]
    ) await add(label, "r9");
    assertEquals(await count(), 0);
    await add("+49 (0)30 1234567", "r9");
    assertEquals(await count(), 1);
    await add("born 1990-12-31", "r9");
    assertEquals(await count(), 2);
  },
);

issuerTest(
  "a published copy is compared: the same, behind, ahead, rewritten, another issuer",
  async (workspace) => {
    await copy(workspace);
    const here = ["$D/acme", "--against", "$D/copy"];
    assertEquals(await doctor(workspace, here), { code: 0, found: [] });
    await sig(workspace, UPSERT);
    assertEquals(await doctor(workspace, here), {
      code: 0,
      found: [["published_behind", "warning"]],
    });
    assertEquals(
      await doctor(workspace, ["$D/copy", "--against", "$D/acme"]),
      { code: 1, found: [["published_ahead", "error"]] },
    );
    await sig(workspace, "init other.example --dir $D/other");
    assertEquals(
      await doctor(workspace, ["$D/acme", "--against", "$D/other"]),
      { code: 1, found: [["published_other_issuer", "error"]] },
    );
    const forked = workspace.path("acme/.well-known/sig/events.jsonl");
    await Deno.copyFile(
      workspace.path("copy/.well-known/sig/events.jsonl"),
      forked,
    );
    const lines = (await Deno.readTextFile(forked)).split("\n");
    await Deno.writeTextFile(forked, `${lines[0]}\n`);
    await Deno.remove(workspace.path("acme/.sig"), { recursive: true });
    await sig(workspace, UPSERT);
    assertEquals(await doctor(workspace, here), {
      code: 1,
      found: [["published_differs", "error"]],
    });
    // The same state by another history: readers who remember refuse it.
    await Deno.writeTextFile(forked, "");
    await Deno.remove(workspace.path("acme/.sig"), { recursive: true });
    const { stdout } = await workspace.sig(["log", "$D/copy", "--format=json"]);
    const drafts = stdout.trimEnd().split("\n").map((line) => {
      const event = JSON.parse(line);
      for (
        const name of [
          ...["spec_version", "issuer", "sequence", "event_id", "status"],
          "revokes_relationship_id",
        ]
      ) delete event[name];
      return JSON.stringify(event);
    });
    await Deno.writeTextFile(
      workspace.path("drafts.jsonl"),
      `${drafts.join("\n")}\n`,
    );
    await sig(workspace, "import --dir $D/acme $D/drafts.jsonl");
    const same = await workspace.sig(["diff", "$D/acme", "$D/copy"]);
    assertEquals(same.code, 0, same.stdout);
    assertEquals(await doctor(workspace, here), {
      code: 1,
      found: [["published_differs", "error"]],
    });
  },
);

issuerTest(
  "SARIF has a rule for each kind and a result for each finding",
  async (workspace) => {
    await sig(workspace, `${UPSERT} --title eve@acme.example`);
    await Deno.chmod(workspace.path("acme/.sig"), 0o755);
    const { code, stdout } = await workspace.sig(
      "doctor $D/acme --format sarif",
    );
    assertEquals(code, 0);
    const { version, runs: [run] } = JSON.parse(stdout);
    assertEquals(version, "2.1.0");
    const rules: readonly { id: string }[] = run.tool.driver.rules;
    assertEquals(rules.map(({ id }) => id), [
      "personal_data",
      "folder_open_to_others",
    ]);
    assertEquals(run.results.length, 2);
    assertEquals(run.results[0].level, "warning");
    // What GitHub needs to show a result: rule, level, text and a file.
    for (const [at, result] of run.results.entries()) {
      assertEquals(
        [result.ruleIndex, rules[result.ruleIndex]!.id],
        [at, result.ruleId],
      );
      assert(result.message.text.length > 0);
    }
    assertEquals(
      run.results.map((
        // deno-lint-ignore no-explicit-any -- as a reader of SARIF takes it
        { locations: [at] }: any,
      ) => at.physicalLocation.artifactLocation.uri),
      [".well-known/sig/events.jsonl", ".well-known/sig.json"],
    );
    const text = await workspace.sig(["doctor", "$D/acme"]);
    assertStringIncludes(text.stdout, "warning: personal_data: 1 events");
    assertStringIncludes(text.stdout, "  fix: ");
    assert(!text.stdout.includes("eve@"));
  },
);

workspaceTest(
  "what can't be read is not a healthy issuer",
  async (workspace) => {
    const { code, stdout, stderr } = await workspace.sig("doctor $D/nowhere");
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, "source_not_found");
  },
);
