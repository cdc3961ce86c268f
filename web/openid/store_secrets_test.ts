import { createMemoryStore, type RecordStore } from "@sig/consumer/store";
import { assert, assertEquals } from "@std/assert";
import { cookieAt, TestProvider } from "./testdata/test_provider.ts";

// promise: The store holds digests of codes, tokens and cookies.

Deno.test("a reader of the store can't obtain a valid code, token or cookie", async () => {
  const written: string[] = [];
  const store = createMemoryStore();
  const recording: RecordStore = {
    ...store,
    put(kind, id, record, over, at) {
      written.push(id, record.text);
      return store.put(kind, id, record, over, at);
    },
  };
  await using provider = await TestProvider.start({ store: recording });
  const { person, browser } = await provider.employ();
  const code = await browser.signInForCode(provider, person);
  const { body } = await provider.redeem(code);
  const secrets = [
    code,
    body.access_token,
    body.refresh_token,
    browser.cookies.get(cookieAt("sig-session", provider))!,
    `.${browser.cookies.get(cookieAt("sig-browser", provider))!}`,
  ].map((token) => token.split(".").at(-1)!);
  assertEquals(secrets.map((secret) => secret.length), Array(5).fill(43));
  const all = written.join("\n");
  assert(all.includes(person.did));
  for (const secret of secrets) assert(!all.includes(secret));
});
