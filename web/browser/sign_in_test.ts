import { assert, assertEquals } from "@std/assert";
import { createApp } from "@sig/web";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { type BrowserKey, toBrowserKey } from "./key_store.ts";
import { signIn, type SignInRequest } from "./sign_in.ts";

const ORIGIN = "https://shop.example";
const URLS = {
  challengeUrl: `${ORIGIN}/v1/auth/challenge/create`,
  answerUrl: `${ORIGIN}/v1/auth/attestation/verify`,
};

async function makeKey(): Promise<BrowserKey> {
  const pair = await crypto.subtle.generateKey("Ed25519", false, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const { x = "" } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return toBrowserKey(pair.privateKey, x);
}

/** Calls the real login without a network. */
function site(audience = ORIGIN) {
  const app = createApp({ audiences: [audience] });
  const asked: string[] = [];
  const fetch = (input: URL | RequestInfo, init?: RequestInit) => {
    const request = new Request(input, init);
    asked.push(new URL(request.url).pathname);
    return app.fetch(request);
  };
  return { asked, fetch };
}

Deno.test("signIn fetches a challenge, asks the person, and returns the response", async () => {
  const { fetch } = site();
  const key = await makeKey();
  const shown: SignInRequest[] = [];
  const done = await signIn({
    ...{ ...URLS, fetch, key, scopes: ["profile"] },
    confirm: (request) => shown.push(request) > 0,
  });
  const login = done?.login as Record<string, unknown>;
  assertEquals([login.verified, login.subject, login.scopes], [true, key.did, [
    "profile",
  ]]);
  const [{ audience, scopes, subject } = {} as SignInRequest] = shown;
  assertEquals([audience, scopes, subject], [ORIGIN, ["profile"], key.did]);
});

Deno.test("declining signs nothing", async () => {
  const { asked, fetch } = site();
  const key = await makeKey();
  const done = await signIn({ ...URLS, fetch, key, confirm: () => false });
  assertEquals(done, undefined);
  assertEquals(asked, ["/v1/auth/challenge/create"]);
});

Deno.test("a challenge for another site is not signed", async () => {
  const { asked, fetch } = site("https://bank.example");
  const key = await makeKey();
  await expectSigError(
    signIn({ ...URLS, fetch, key }),
    "audience_mismatch",
    "the challenge is for another site",
  );
  assertEquals(asked, ["/v1/auth/challenge/create"]);
});

Deno.test("signIn throws the server's error", async () => {
  const key = await makeKey();
  const refusing = (body: unknown, status: number) => () =>
    Promise.resolve(Response.json(body, { status }));
  const error = await expectSigError(
    signIn({
      ...{ ...URLS, key },
      fetch: refusing({
        code: "rate_limited",
        detail: "too many",
        retry_after_seconds: 9,
      }, 429),
    }),
    "rate_limited",
    "too many",
  );
  assertEquals(error.context.retry_after_seconds, 9);
  await expectSigError(
    signIn({ ...URLS, key, fetch: refusing({ code: "constructor" }, 502) }),
    "fetch_status",
    "the server answered 502",
  );
  await expectSigError(
    signIn({ ...URLS, key, fetch: refusing([], 200) }),
    "audience_mismatch",
    "another site",
  );
  await expectSigError(
    signIn({
      ...URLS,
      key,
      fetch: () => Promise.reject(new TypeError("offline")),
    }),
    "fetch_failed",
    "the server does not answer",
  );
});

Deno.test("a bundler can bundle the module into one file for browsers", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "bundle",
      "--quiet",
      "--platform=browser",
      new URL("mod.ts", import.meta.url).pathname,
    ],
    cwd: new URL("../..", import.meta.url),
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const text = new TextDecoder().decode(stdout);
  assert(!/\bDeno\b|from "node:|import\("/.test(text));
  assert(text.length < 80 * 1024, `${text.length} characters`);
});
