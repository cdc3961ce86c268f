/** Compiles the Go code of docs/gate.md, and attacks it with forged headers. */

import { assert, assertEquals } from "@std/assert";

import {
  Browser,
  cookieAt,
  TestProvider,
} from "../../web/openid/testdata/test_provider.ts";
import { buildGo, WITHOUT_GO } from "../kit/go.ts";
import { freePort, tempFolder, TestProcess } from "../kit/process.ts";

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
    const text = await Deno.readTextFile(
      new URL("../../docs/gate.md", import.meta.url),
    );
    const [, block = ""] = /```go\n([\s\S]*?)```/.exec(text) ?? [];
    assert(block.includes("func gate("));
    await using folder = await tempFolder();
    const source = new URL(`file://${folder.path}/main.go`);
    await Deno.writeTextFile(source, PROGRAM + block);
    const program = await buildGo(source, folder.path);
    const host = `127.0.0.1:${freePort()}`;
    await using provider = await TestProvider.start({
      settings: { gateHosts: [host], gateMaxAgeMs: 0 },
    });
    await using child = new TestProcess(program, [provider.origin, host]);
    await child.listens(Number(host.split(":")[1]));
    const browser = new Browser();
    const open = (headers: [string, string][]) =>
      browser.send(`http://${host}/a?b=c`, { headers });
    const refused = await open(FORGED);
    await refused.body?.cancel();
    const location = refused.headers.get("location") ?? "";
    const rd = `https://${host}/a?b=c`;
    assertEquals([refused.status, location], [
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
