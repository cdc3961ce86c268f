import { assertEquals, assertThrows } from "@std/assert";
import { SigError } from "@sig/core";
import { readPersonNames } from "./start_openid.ts";
import { claimsOf } from "./id_token.ts";
import { sha256 } from "../testdata/answer.ts";

const read = (text: string) =>
  readPersonNames(new TextEncoder().encode(text), "people.csv");

Deno.test("claims contain the operator's names, or a digest without one", async () => {
  const subject = "did:web:zoe.example";
  const relationship = {
    ...{ issuer: "did:web:acme.example", relationship_id: "r1" },
    ...{ type: "employee", roles: [], sequence: 1 },
  };
  const bytes = Buffer.from(await sha256(subject), "base64url");
  const digest = `u-${bytes.toString("hex").slice(0, 16)}`;
  const cases = {
    "subject,name\ndid:web:x.example,X\n": [digest, digest],
    [`subject,name\n${subject},"Zoë ""Z"" Ada"\n`]: [
      ...['Zoë "Z" Ada', 'Zoë "Z" Ada'],
    ],
    [`name;username;subject\nZoë;zoe;${subject}\n`]: ["Zoë", "zoe"],
  };
  for (const [file, expected] of Object.entries(cases)) {
    const person = { subject, relationship, scope: ["openid", "profile"] };
    const { name, preferred_username } = claimsOf(person, read(file));
    assertEquals([name, preferred_username], expected);
  }
});

Deno.test("rejects names that could be mistaken for another person's, and lists every row", () => {
  const [a, b] = ["did:web:a.example", "did:web:b.example"];
  const cases: readonly (readonly [string, string])[] = [
    [
      `subject,name,username\n${a},Ann,x\n${b},Bob,Ｘ\n`,
      "row 3: its username is that of another person in row 2",
    ],
    [
      `subject,name\n${a},u-0123456789abcdef\n`,
      "row 2: its name has the form of a digest",
    ],
    [
      "subject,name\nann,Ann\n",
      "row 2: its subject is not a DID and not an OpenSSH key",
    ],
    [
      `subject,name\n${a},A\u202en\n${b},${"b".repeat(201)}\n`,
      "row 2: its name is longer than 200 characters, or has invisible ones (and 1 more fault)",
    ],
    ["subject,name\n,Ann\n", "row 2: it has no subject"],
    [
      `subject,name\n${a},A\n${a},B\n`,
      "row 3: its key has two names; row 2 has the other",
    ],
    ["name\n", "it has no column subject"],
  ];
  for (const [text, says] of cases) {
    const error = assertThrows(() => read(text), SigError);
    assertEquals(
      [error.code, error.message],
      ["invalid_request", `Cannot read people file "people.csv": ${says}`],
    );
  }
  // Distinct user names and duplicate rows are valid.
  const people = read(
    `subject,name,username\n${a},Ann,ann1\n${b},Ann,ann2\n${b},Ann,ann2\n${b},,\n`,
  );
  assertEquals(people.size, 2);
  assertEquals(people.usernameOf?.(b), "ann2");
});

Deno.test("colleagues with one name start the server, and have no user name without the column", () => {
  const [a, b, c] = ["a", "b", "c"].map((name) => `did:web:${name}.example`);
  const people = read(
    `subject,name,username\n${a},Hans,\n${b},HANS,\n${c},Olga,\n`,
  );
  assertEquals([a, b, c].map((each) => people.nameOf?.(each!)), [
    "Hans",
    "HANS",
    "Olga",
  ]);
  assertEquals([a, b, c].map((each) => people.usernameOf?.(each!)), [
    undefined,
    undefined,
    "Olga",
  ]);
});
