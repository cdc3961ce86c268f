/** Tests the Python code of docs/gate.md. */

import { assert, assertEquals } from "@std/assert";

import {
  Browser,
  TestProvider,
} from "../../web/openid/testdata/test_provider.ts";
import { freePort, lacks, TestProcess } from "../kit/process.ts";

Deno.test({
  name:
    "the gate in Python queries the login, redirects people to it, and admits them",
  ignore: lacks("python3"),
  fn: async () => {
    const text = await Deno.readTextFile(
      new URL("../../docs/gate.md", import.meta.url),
    );
    const [, block = ""] = /```python\n([\s\S]*?)```/.exec(text) ?? [];
    const host = `127.0.0.1:${freePort()}`;
    await using provider = await TestProvider.start({
      settings: { gateHosts: [host], gateMaxAgeMs: 0 },
    });
    const program = block
      .replace("http://127.0.0.1:8788", provider.origin)
      .replace("127.0.0.1:9000", host);
    assert(program.includes(host) && program.includes(provider.origin));
    {
      await using child = new TestProcess("python3", ["-c", program]);
      await child.listens(Number(host.split(":")[1]));
      const browser = new Browser();
      const open = () => browser.send(`http://${host}/a?b=c&d`);
      const asked = await open();
      await asked.body?.cancel();
      const location = asked.headers.get("location") ?? "";
      assertEquals([asked.status, location], [
        303,
        `${provider.origin}/gate/login?rd=http://${host}/a?b=c&d`,
      ]);
      const { person, relationship } = await provider.employ();
      const login = await browser.signIn(provider, person, location);
      assertEquals(
        (await browser.follow(login.href)).href,
        `http://${host}/a?b=c&d`,
      );
      assertEquals(await (await open()).text(), `Hello, ${person.did}`);
      await provider.demo.revoke(relationship);
      const after = await open();
      await after.body?.cancel();
      assertEquals(after.status, 303);
    }
  },
});
