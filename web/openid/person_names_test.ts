import { assert, assertEquals, assertThrows } from "@std/assert";
import { SigError } from "@sig/core";
import { decodeJwt } from "jose";
import { readPersonNames } from "./start_openid.ts";
import { tempFolder } from "../../tests/kit/process.ts";
import { startServer } from "./testdata/server.ts";
import {
  Browser,
  sha256,
  TestProvider,
  usualClients,
  VERIFIER,
} from "./testdata/test_provider.ts";
import { Person } from "../testdata/independent_client.ts";

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

Deno.test({
  name:
    "--people is read at the start and at SIGHUP; an invalid file prevents a start and is ignored at SIGHUP",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await tempFolder();
    const { path: dir } = folder;
    const person = new Person();
    const write = (name: string) =>
      Deno.writeTextFile(
        `${dir}/n.csv`,
        `subject,name\n${person.did},${name}\n`,
      );
    await Deno.writeTextFile(
      `${dir}/c.json`,
      JSON.stringify({ clients: await usualClients() }),
    );
    const args = [
      ...["--demo", "--oidc-clients", "c.json", "--oidc-keys", "k.json"],
      ...["--people", "n.csv", "--log", "text"],
    ];
    await write("Ada");
    const server = await startServer(dir, args);
    const enrolled = await fetch(`${server.url}/demo/enrol`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ subject: person.did }),
    });
    assertEquals(enrolled.status, 200, await enrolled.text());
    const name = async () => {
      const query = new URLSearchParams({
        ...{ client_id: "spa", redirect_uri: "https://spa.example/callback" },
        ...{ response_type: "code", scope: "openid profile" },
        code_challenge: await sha256(VERIFIER),
        code_challenge_method: "S256",
      });
      const back = await new Browser().signIn(
        { origin: server.url, now: () => new Date() },
        person,
        `${server.url}/oidc/authorize?${query}`,
      );
      const response = await fetch(`${server.url}/oidc/token`, {
        method: "POST",
        body: new URLSearchParams({
          ...{ grant_type: "authorization_code", client_id: "spa" },
          redirect_uri: "https://spa.example/callback",
          code: back.searchParams.get("code")!,
          code_verifier: VERIFIER,
        }),
      });
      return decodeJwt((await response.json()).id_token).name;
    };
    assertEquals(await name(), "Ada");
    await write("Ada Lovelace");
    server.hangUp();
    await server.said("read 1 people again");
    assertEquals(await name(), "Ada Lovelace");
    await Deno.writeTextFile(`${dir}/n.csv`, "subject,name\nSECRET,Ada\n");
    server.hangUp();
    await server.said("the people stay as they were: ");
    await server.said("row 2: its subject is not a DID and not an OpenSSH key");
    assertEquals(await name(), "Ada Lovelace");
    await server.stop();
    const { code, stderr } = await startServer.fails(dir, args);
    assertEquals(code, 2);
    assert(stderr.includes("row 2: its subject is not a DID"), stderr);
    assert(!stderr.includes("SECRET"), stderr);
  },
});
