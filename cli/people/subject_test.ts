import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  importTestKeys,
  lineOf,
  makeDocuments,
  upsert,
} from "../../tests/kit/test_issuer.ts";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

async function nameThem(workspace: Workspace, rows: string): Promise<void> {
  await Deno.writeTextFile(
    workspace.path("acme/.sig/names.csv"),
    `subject,name\n${rows}`,
  );
}

const NAMES = `did:web:alice.example,Alice Doe
did:web:bob.example,Bob
did:web:bob2.example,Bob
`;

Deno.test("a name of the names file stands for its subject, wherever one is given", () =>
  withIssuer(async (workspace) => {
    await nameThem(workspace, NAMES);
    const sig = async (args: string) => {
      const words = [...args.split(" "), "--subject", "Alice Doe"];
      const { code, stdout, stderr } = await workspace.sig(words);
      assertEquals([code, stderr], [0, ""], args);
      return stdout;
    };
    assertStringIncludes(
      await sig("check --sig $D/acme --require role=deploy --format text"),
      "allow  did:web:alice.example",
    );
    for (const command of ["log", "dump-state"]) {
      const words = `${command} $D/acme --format text`;
      assertStringIncludes(await sig(words), "did:web:alice.example");
    }
    await sig("set --dir $D/acme --add-role ship");
    await sig("offboard --dir $D/acme --reason-code other --yes");
  }));

Deno.test("a name of nobody or of several is an error, never a deny", () =>
  withIssuer(async (workspace) => {
    const check = async (subject: string) =>
      await workspace.sig([
        ...["check", "--sig", "$D/acme", "--require", "role=deploy"],
        ...["--format", "json", "--subject", subject],
      ]);
    // Without a file of names any text is a subject.
    assertEquals((await check("Bob")).code, 1);
    await nameThem(workspace, NAMES);
    const rows = [
      [
        "Bob",
        "ambiguous_relationship",
        'Cannot choose a subject: 2 people have the name "Bob": did:web:bob.example, did:web:bob2.example',
      ],
      [
        "Bobby",
        "invalid_identifier",
        'Cannot find a subject: "Bobby" is not a DID, and nobody has that name',
      ],
    ] as const;
    for (const [name, code, detail] of rows) {
      const ran = await check(name);
      const problem = JSON.parse(ran.stderr);
      assertEquals(
        [ran.code, ran.stdout, problem.code, problem.detail, problem.flag],
        [2, "", code, detail, "--subject"],
      );
    }
  }));

Deno.test("a subject of the feed is that subject, also where its text is the name of another", () =>
  withIssuer(async (workspace) => {
    const [key] = await importTestKeys();
    const event = upsert(1, { subject: "Alice Doe", roles: ["deploy"] });
    const lines = [await lineOf(event, key)];
    for (const [path, content] of makeDocuments({ keys: [key], lines })) {
      const file = workspace.path(`acme${path}`);
      if (typeof content === "string") await Deno.writeTextFile(file, content);
      else await Deno.writeFile(file, content);
    }
    await nameThem(workspace, NAMES);
    const { code, stdout } = await workspace.sig([
      ...["check", "--sig", "$D/acme", "--subject", "Alice Doe"],
      ...["--require", "role=deploy", "--format", "json"],
      ...["--at", "2026-06-01"],
    ]);
    assertEquals([code, JSON.parse(stdout).subject], [0, "Alice Doe"]);
  }));
