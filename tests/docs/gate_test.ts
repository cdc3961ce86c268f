/** Runs the gates in Python and Go of docs/gate.md. */

import { assert, assertEquals } from "@std/assert";
import {
  Browser,
  cookieAt,
  TestProvider,
} from "../../web/openid/testdata/test_provider.ts";
import { buildGo, WITHOUT_GO } from "../kit/go.ts";
import { freePort, lacks, tempFolder, TestProcess } from "../kit/process.ts";

/** Returns the block of docs/gate.md in a language. */
async function blockIn(language: string): Promise<string> {
  const text = await Deno.readTextFile(
    new URL("../../docs/gate.md", import.meta.url),
  );
  return text.split(`\`\`\`${language}\n`)[1]?.split("```")[0] ?? "";
}

/** Returns a provider, and a host that its forward auth protects. */
async function protectHost() {
  const host = `127.0.0.1:${freePort()}`;
  const settings = { gateHosts: [host], gateMaxAgeMs: 0 };
  return { host, provider: await TestProvider.start({ settings }) };
}

/** Returns status and location of a response without its body. */
async function redirectOf(response: Response) {
  await response.body?.cancel();
  return [response.status, response.headers.get("location") ?? ""] as const;
}

const portOf = (host: string) => Number(host.split(":")[1]);

Deno.test({
  name:
    "the gate in Python queries the login, redirects people to it, and admits them",
  ignore: lacks("python3"),
  fn: async () => {
    const { host, provider } = await protectHost();
    await using _ = provider;
    const program = (await blockIn("python"))
      .replace("http://127.0.0.1:8788", provider.origin)
      .replace("127.0.0.1:9000", host);
    assert(program.includes(host) && program.includes(provider.origin));
    await using child = new TestProcess("python3", ["-c", program]);
    await child.listens(portOf(host));
    const browser = new Browser();
    const place = `http://${host}/a?b=c&d`;
    const open = () => browser.send(place);
    const [status, location] = await redirectOf(await open());
    const login = `${provider.origin}/gate/login?rd=${place}`;
    assertEquals([status, location], [303, login]);
    const { person, relationship } = await provider.employ();
    const signedIn = await browser.signIn(provider, person, location);
    assertEquals((await browser.follow(signedIn.href)).href, place);
    assertEquals(await (await open()).text(), `Hello, ${person.did}`);
    await provider.demo.revoke(relationship);
    assertEquals((await redirectOf(await open()))[0], 303);
  },
});

/** An application that answers with the headers that it got. */
const PROGRAM = `package main

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"time"
)

func main() {
	app := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		json.NewEncoder(w).Encode(r.Header)
	})
	http.ListenAndServe(os.Args[2], gate(app, os.Args[1], os.Args[2]))
}

`;

/** Each identity header, as a browser may send it. */
const FORGED = ["Remote-User", "Remote-Groups", "Remote-Name"].flatMap((name) =>
  [name, name.replace("-", "_"), name.toLowerCase(), name.toUpperCase()]
    .map((each) => [each, "forged"] as [string, string])
);

Deno.test({
  name:
    "the gate in Go removes forged identities in every spelling, and sets all three",
  ignore: WITHOUT_GO,
  fn: async () => {
    const block = await blockIn("go");
    assert(block.includes("func gate("));
    await using folder = await tempFolder();
    const source = new URL(`file://${folder.path}/main.go`);
    await Deno.writeTextFile(source, PROGRAM + block);
    const program = await buildGo(source, folder.path);
    const { host, provider } = await protectHost();
    await using _ = provider;
    await using child = new TestProcess(program, [provider.origin, host]);
    await child.listens(portOf(host));
    const browser = new Browser();
    const open = (headers: [string, string][]) =>
      browser.send(`http://${host}/a?b=c`, { headers });
    const [status, location] = await redirectOf(await open(FORGED));
    const rd = `https://${host}/a?b=c`;
    assertEquals([status, location], [
      303,
      `${provider.origin}/gate/login?rd=${rd}`,
    ]);

    const { person } = await provider.employ();
    // The sample sends people to https; here it is http.
    const login = location.replace("rd=https:", "rd=http:");
    await browser.signIn(provider, person, login);
    browser.cookies.set("own", "kept");
    assert(browser.cookies.has(cookieAt("sig-session", provider)));
    const answer = await open(FORGED);
    const seen: Record<string, string[]> = await answer.json();
    const identity = Object.entries(seen)
      .filter(([name]) => /^remote[-_]/i.test(name));
    assertEquals(Object.fromEntries(identity), {
      "Remote-User": [person.did],
      "Remote-Groups": ["employee,role:deploy"],
      "Remote-Name": [seen["Remote-Name"]![0]!],
    });
    assert(seen["Remote-Name"]![0]!.startsWith("u-"));
    assertEquals(seen["Cookie"], ["own=kept"]);
  },
});
