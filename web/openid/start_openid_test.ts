import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { decodeJwt } from "jose";
import { tempFolder } from "../../tests/kit/process.ts";
import { Person } from "../testdata/independent_client.ts";
import { refusedStart, startRunningDemo } from "../testdata/running_demo.ts";
import { startServer } from "./testdata/server.ts";
import { Browser, TestProvider, VERIFIER } from "./testdata/test_provider.ts";

const ENTRY = {
  client_id: "spa",
  redirect_uris: ["https://spa.example/callback"],
};
const SPA = { client_id: "spa", redirect_uri: "https://spa.example/callback" };
const ignore = Deno.build.os === "windows";

/** A folder with the file of applications. */
async function folderWith(clients: unknown) {
  const { path, [Symbol.asyncDispose]: remove } = await tempFolder();
  const files = {
    clients: `${path}/c.json`,
    keys: `${path}/k.json`,
    people: `${path}/n.csv`,
  };
  const write = (name: keyof typeof files, text: string) =>
    Deno.writeTextFile(files[name], text);
  const writeClients = (clients: unknown) =>
    write("clients", JSON.stringify({ clients }));
  await writeClients(clients);
  const args = ["--oidc-clients", files.clients, "--oidc-keys", files.keys];
  return {
    ...{ path, files, write, writeClients, args },
    [Symbol.asyncDispose]: remove,
  };
}

async function kidsOf(origin: string): Promise<string[]> {
  const { keys } = await (await fetch(`${origin}/oidc/jwks`)).json();
  return keys.map(({ kid }: { kid: string }) => kid);
}

Deno.test({
  name:
    "creates keys once, readable by their owner only; SIGHUP reads applications and people again and ignores an invalid file",
  ignore,
  async fn() {
    await using folder = await folderWith([ENTRY]);
    const person = new Person();
    const writePeople = (name: string, subject = person.did) =>
      folder.write("people", `subject,name\n${subject},${name}\n`);
    await writePeople("Ada");
    const people = ["--people", folder.files.people];
    const server = await startServer(folder.path, [
      ...["--demo", "--log", "text", ...folder.args, ...people],
    ]);
    const { url } = server;
    const kids = await kidsOf(url);
    const { mode } = await Deno.stat(folder.files.keys);
    assertEquals(mode! & 0o777, 0o600);
    const enrolled = await fetch(`${url}/demo/enrol`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ subject: person.did }),
    });
    assertEquals(enrolled.status, 200, await enrolled.text());
    const provider = new TestProvider();
    provider.origin = url;
    /** Signs in at an application; returns the name in the ID token. */
    const nameAt = async (client_id: string) => {
      const at = { ...SPA, client_id };
      const code = await new Browser().signInForCode(provider, person, at);
      const { body } = await provider.post("/oidc/token", {
        ...{ grant_type: "authorization_code", ...at },
        ...{ code, code_verifier: VERIFIER },
      });
      return decodeJwt(body.id_token).name;
    };
    const refused = async () => {
      const to = await provider.authorizeUrl({ ...SPA, client_id: "new" });
      const response = await new Browser().send(to);
      return (await response.json()).detail;
    };
    assertEquals(await nameAt("spa"), "Ada");
    assertEquals(await refused(), "Cannot sign in: unknown client_id");

    await folder.writeClients([ENTRY, { ...ENTRY, client_id: "new" }]);
    await writePeople("Ada Lovelace");
    server.hangUp();
    await server.said("read 2 applications again");
    await server.said("read 1 people again");
    assertEquals(await nameAt("new"), "Ada Lovelace");

    await folder.writeClients([{ ...ENTRY, client_id: "" }]);
    await writePeople("Ada", "SECRET");
    server.hangUp();
    await server.said("the applications stay as they were");
    await server.said("/clients/0/client_id: it must be letters");
    await server.said("the people stay as they were: ");
    await server.said("row 2: its subject is not a DID and not an OpenSSH key");
    assertEquals(await nameAt("new"), "Ada Lovelace");
    await server.stop();

    await folder.writeClients([ENTRY]);
    const again = await refusedStart(["--demo", ...folder.args, ...people]);
    assertEquals(again.code, 2);
    assertStringIncludes(again.stderr, "row 2: its subject is not a DID");
    assert(!again.stderr.includes("SECRET"), again.stderr);
    // The next process uses the same keys, and warns if others can read them.
    const says = "others on this machine may open the file of --oidc-keys";
    for (const mode of [0o600, 0o640]) {
      await Deno.chmod(folder.files.keys, mode);
      await using demo = await startRunningDemo(folder.args);
      assertEquals(await kidsOf(demo.origin), kids);
      assertEquals(demo.said().includes(says), mode === 0o640);
    }
  },
});

Deno.test("an invalid file or incompatible flags prevent the start", async (t) => {
  await using folder = await folderWith([
    { ...ENTRY, redirect_uris: ["http://x"] },
  ]);
  const { path, args } = folder;
  const keys = ["--oidc-keys", `${path}/k.json`];
  const file = async (name: string, text: string) => {
    await Deno.writeTextFile(`${path}/${name}`, text);
    return `${path}/${name}`;
  };
  const none = await file("none.json", '{"clients":[]}');
  const applications = ["--oidc-clients", none];
  const huge = await file("huge.json", " ".repeat(9 * 1024 * 1024));
  const bad = await file("bad.json", '{"keys":[]}');
  const cases: readonly (readonly [readonly string[], string])[] = [
    [
      ["--demo", ...args],
      "invalid_request: Cannot use file of applications: /clients/0/redirect_uris/0: it must be an https URL",
    ],
    [["--demo", "--oidc-clients", `${path}/no.json`], "source_not_found"],
    [["--demo", "--oidc-clients", huge, ...keys], "document_too_large"],
    [["--demo", ...applications, "--oidc-keys", bad], "invalid_key"],
    [["--session", "1h"], "--session needs --oidc-clients"],
    [
      ["--demo", ...applications, "--recheck", "10ms"],
      "--recheck must be at least 1s",
    ],
    [
      ["--demo", ...applications, "--session", "1s"],
      "--session must be from 1m to 30d",
    ],
    [
      [...applications, ...keys],
      "Cannot be an OpenID Provider: requirements are missing",
    ],
  ];
  for (const [given, says] of cases) {
    await t.step(says, async () => {
      const { code, stderr } = await refusedStart([
        ...["--addr", "127.0.0.1:0", ...given],
      ]);
      assertEquals(code, 2);
      assertStringIncludes(stderr, says);
      assert(!stderr.includes("at file:"));
    });
  }
});
