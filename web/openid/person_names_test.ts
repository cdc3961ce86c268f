import { assertEquals, assertThrows } from "@std/assert";
import { SigError } from "@sig/core";
import { decodeJwt } from "jose";
import { readPersonNames } from "./start_openid.ts";
import { sha256, TestProvider } from "./testdata/test_provider.ts";

const read = (text: string) =>
  readPersonNames(new TextEncoder().encode(text), "people.csv");

Deno.test("ID tokens and userinfo contain the operator's names, or a digest without one", async () => {
  const names = { of: read("subject,name\ndid:web:x.example,X\n") };
  await using provider = await TestProvider.start({
    settings: {
      nameOf: (subject) => names.of.nameOf?.(subject),
      usernameOf: (subject) => names.of.usernameOf?.(subject),
    },
  });
  const { person, browser, ...tokens } = await provider.logIn();
  const named = ({ name, preferred_username }: Record<string, unknown>) => [
    name,
    preferred_username,
  ];
  const digest = `u-${
    Buffer.from(await sha256(person.did), "base64url").toString("hex")
      .slice(0, 16)
  }`;
  assertEquals(named(decodeJwt(tokens.id_token)), [digest, digest]);
  for (
    const [file, expected] of [
      [`subject,name\n${person.did},"Zoë ""Z"" Ada"\n`, [
        'Zoë "Z" Ada',
        'Zoë "Z" Ada',
      ]],
      [`name;username;subject\nZoë;zoe;${person.did}\n`, ["Zoë", "zoe"]],
    ] as const
  ) {
    names.of = read(file);
    const { access_token, id_token } = await browser.tokens(
      provider,
      person,
      { prompt: "login" },
    );
    const info = await provider.userinfo(access_token);
    assertEquals(named(decodeJwt(id_token)), [...expected]);
    assertEquals(named(info.body), [...expected]);
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
