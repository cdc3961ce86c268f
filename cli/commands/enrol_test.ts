import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { answered, codeOf, enrolled, invited } from "../testdata/enrolment.ts";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";
import { sig } from "../testdata/process.ts";

function feed(workspace: Workspace): Promise<string> {
  return Deno.readTextFile(
    workspace.path("acme/.well-known/sig/events.jsonl"),
  );
}

Deno.test("enrol publishes what was offered, once, and says so again", () =>
  withIssuer(async (workspace) => {
    const invitation = await invited(workspace, [
      ...["--role", "deploy", "--for", "Alice Doe"],
      ...["--valid-until", "2027-06-30"],
    ]);
    const { subject, ...answer } = await answered(workspace, invitation);
    const text = await enrolled(workspace, answer, ["--yes"]);
    assertMatch(
      text.stdout,
      /^Appended relationship\.upsert [0-9A-Z]{26} \(seq=4\)\n$/,
    );
    assertEquals(
      text.stderr,
      `published by did:web:acme.example
subject      ${subject}
as           contractor
roles        review, deploy
valid        until 2027-07-01T00:00:00Z
invited was  Alice Doe (not published)
`,
    );
    const after = await feed(workspace);
    const again = await enrolled(workspace, answer);
    const { jti } = JSON.parse(
      atob(invitation.split(".")[1]!.replace(/-/g, "+").replace(/_/g, "/")),
    );
    const { relationship_id, ...appended } = JSON.parse(again.stdout);
    assertStringIncludes(text.stdout, relationship_id);
    assertEquals([again.code, appended], [0, {
      event_type: "relationship.upsert",
      event_id: `inv-${jti}`,
      sequence: 4,
      repeated: true,
      subject,
    }]);
    const said = await enrolled(workspace, answer, ["--yes"]);
    assertStringIncludes(said.stderr, "is already in the feed (seq=4)");
    assertEquals(await feed(workspace), after);
    const asked = await workspace.sig([
      ...["check", "--sig", "$D/acme", "--subject", subject],
      ...["--require", "role=deploy"],
    ]);
    assertEquals(asked.code, 0);
    assertEquals(atobAll(after).includes("Alice Doe"), false);
  }));

/** Every payload of a feed, decoded. */
function atobAll(text: string): string {
  return text.trimEnd().split("\n").map((line) =>
    new TextDecoder().decode(
      Uint8Array.fromBase64(JSON.parse(line).payload, {
        alphabet: "base64url",
      }),
    )
  ).join("\n");
}

Deno.test("an invitation that brought somebody in brings in nobody else", () =>
  withIssuer(async (workspace) => {
    const invitation = await invited(workspace);
    await enrolled(workspace, await answered(workspace, invitation));
    const after = await feed(workspace);
    const other = await answered(workspace, invitation, "mallory.jwk");
    const refused = await enrolled(workspace, other);
    assertEquals(codeOf(refused), [2, "invitation_used"]);
    const { status, sequence } = JSON.parse(refused.stderr);
    assertEquals([status, sequence], [409, 4]);
    assertEquals(await feed(workspace), after);
  }));

Deno.test("two processes that enrol two people at once let exactly one in", () =>
  withIssuer(async (workspace) => {
    const cwd = workspace.dir;
    const soon = { io: { now: () => new Date() } };
    const { stdout } = await workspace.sig(
      ["invite", "--dir", "$D/acme", "--type", "other"],
      soon,
    );
    const people = ["alice", "mallory"];
    for (const name of people) {
      const { code } = await sig([
        ...["accept", stdout.trim(), "--sig", "./acme"],
        ...["--out", `${name}.json`],
      ], { cwd });
      assertEquals(code, 0);
    }
    const ended = await Promise.all(
      people.map((name) =>
        sig(
          ["enrol", "--dir", "acme", "--answer", `${name}.json`, "--yes"],
          { cwd },
        )
      ),
    );
    assertEquals(ended.map(({ code }) => code).sort(), [0, 2]);
    const refused = ended.find(({ code }) => code === 2)!;
    assertStringIncludes(refused.stderr, "error: invitation_used: ");
    assertEquals((await feed(workspace)).trimEnd().split("\n").length, 4);
  }));

Deno.test("a wrong answer is refused by its code, and writes nothing", () =>
  withIssuer(async (workspace) => {
    const invitation = await invited(workspace);
    const other = await invited(workspace, ["--role", "admin"]);
    const answer = await answered(workspace, invitation);
    const [header, claims, signature] = invitation.split(".");
    const before = await workspace.snapshot();
    const wider = other.split(".")[1];
    const cases: readonly (readonly [object | string, string])[] = [
      ["", "invalid_json"],
      ["{", "invalid_json"],
      ['{"invitation":"a","invitation":"b"}', "invalid_json"],
      ["[]", "invalid_invitation"],
      [{ attestation: answer.attestation }, "invalid_invitation"],
      [{ ...answer, invitation: "x" }, "invalid_invitation"],
      [
        { ...answer, invitation: `${header}.${claims}.` },
        "signature_invalid",
      ],
      [
        { ...answer, invitation: `${header}.${wider}.${signature}` },
        "signature_invalid",
      ],
      [{ ...answer, invitation: other }, "invalid_attestation"],
      [{ invitation }, "invalid_attestation"],
      [
        { ...answer, attestation: `${answer.attestation.slice(0, -4)}AAAA` },
        "attestation_signature_invalid",
      ],
    ];
    for (const [wrong, code] of cases) {
      assertEquals(codeOf(await enrolled(workspace, wrong)), [2, code]);
    }
    const { detail, hint } = JSON.parse(
      (await enrolled(workspace, invitation)).stderr,
    );
    assertEquals([detail, hint], [
      "Cannot read answer: syntax error",
      "It is the answer that sig accept or the page makes, not the invitation.",
    ]);
    const large = await workspace.sig([
      ...["enrol", "--dir", "$D/acme", "--answer", "$D/large.json", "--yes"],
      ...["--format", "json"],
    ]);
    assertEquals(codeOf(large), [2, "source_not_found"]);
    await Deno.writeTextFile(workspace.path("large.json"), " ".repeat(65_537));
    const tooLarge = await workspace.sig([
      ...["enrol", "--dir", "$D/acme", "--answer", "$D/large.json", "--yes"],
      ...["--format", "json"],
    ]);
    assertEquals(codeOf(tooLarge), [2, "document_too_large"]);
    await Deno.remove(workspace.path("large.json"));
    assertEquals(await workspace.snapshot(), before);
  }));

Deno.test("an expired invitation, a foreign one and one of a withdrawn key are refused", () =>
  withIssuer(async (workspace) => {
    const answer = await answered(workspace, await invited(workspace));
    const late = await workspace.sig(
      ["enrol", "--dir", "$D/acme", "--answer", "-", "--format", "json"],
      {
        stdin: JSON.stringify(answer),
        io: { now: () => new Date("2026-01-08T00:01:00Z") },
      },
    );
    assertEquals(codeOf(late), [2, "invitation_expired"]);
    assertEquals(JSON.parse(late.stderr).status, 410);

    await workspace.sig(["init", "other.example", "--dir", "$D/other"]);
    const foreign = await workspace.sig(
      ["enrol", "--dir", "$D/other", "--answer", "-", "--format", "json"],
      { stdin: JSON.stringify(answer) },
    );
    assertEquals(codeOf(foreign), [2, "invalid_invitation"]);
    assertStringIncludes(
      JSON.parse(foreign.stderr).detail,
      'it is one of "did:web:acme.example", not of "did:web:other.example"',
    );

    // A new key leaves invitations of the old one as they are …
    await workspace.sig(["rotate-key", "--dir", "$D/acme", "--kid", "new"]);
    const unasked = await enrolled(workspace, answer, ["--format", "json"]);
    assertEquals(codeOf(unasked), [2, "confirmation_required"]);
    // … but one that was taken back counts for nothing.
    const path = workspace.path("acme/.well-known/jwks.json");
    const jwks = JSON.parse(await Deno.readTextFile(path));
    await Deno.writeTextFile(
      path,
      JSON.stringify({ keys: jwks.keys.slice(1) }),
    );
    const withdrawn = await enrolled(workspace, answer);
    assertEquals(codeOf(withdrawn), [2, "key_not_found"]);
  }));

Deno.test("nothing is published before somebody has agreed", () =>
  withIssuer(async (workspace) => {
    const answer = await answered(workspace, await invited(workspace));
    const words = ["enrol", "--dir", "$D/acme", "--answer", "$D/answer.json"];
    await Deno.writeTextFile(
      workspace.path("answer.json"),
      JSON.stringify(answer),
    );
    const before = await workspace.snapshot();
    const unasked = await workspace.sig(words);
    assertEquals([unasked.code, unasked.stdout], [2, ""]);
    assertStringIncludes(unasked.stderr, "error: confirmation_required: ");
    // The hint is to look at it first.
    assertStringIncludes(unasked.stderr, "published by did:web:acme.example\n");
    assertStringIncludes(unasked.stderr, "\nas           contractor\n");
    const asked: string[] = [];
    const ask = (question: string) => asked.push(question) > 1;
    const terminals = ["stdin", "stdout"] as const;
    const declined = await workspace.sig(words, { terminals, io: { ask } });
    assertEquals([declined.code, asked], [2, ["Publish this?"]]);
    assertEquals(await workspace.snapshot(), before);
    const agreed = await workspace.sig(words, { terminals, io: { ask } });
    assertEquals([agreed.code, asked.length], [0, 2]);
  }));

Deno.test("a crash behind the append is mended by the same command", () =>
  withIssuer(async (workspace) => {
    const answer = await answered(workspace, await invited(workspace));
    await Deno.writeTextFile(
      workspace.path("answer.json"),
      JSON.stringify(answer),
    );
    const words = [
      ...["enrol", "--dir", "$D/acme", "--answer", "$D/answer.json", "--yes"],
    ];
    const stdout = () => {
      throw new Error("the terminal is gone");
    };
    const lost = await workspace.sig(words, { io: { stdout } });
    assertEquals(lost.code, 2);
    const again = await workspace.sig([...words, "--format", "json"]);
    const { sequence, repeated } = JSON.parse(again.stdout);
    assertEquals([again.code, sequence, repeated], [0, 4, true]);
  }));
