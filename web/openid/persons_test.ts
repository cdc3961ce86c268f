import { assertEquals, assertNotEquals } from "@std/assert";
import { decodeJwt } from "jose";
import { Person } from "../testdata/independent_client.ts";
import { Receiver } from "./testdata/fleet.ts";
import { Browser, cookieAt, TestProvider } from "./testdata/test_provider.ts";

// promise: Every key of a person has the same `sub`, which no other person
//   gets.

/** Enrols a person with two keys. */
async function twoKeys(provider: TestProvider) {
  const { person: laptop, relationship } = await provider.employ();
  const phone = new Person();
  const { demo } = provider;
  const added = await demo.enrol(phone.did, undefined, laptop.did);
  return { laptop, phone, relationship, added: added.relationship_id };
}

/** Returns the error code of a login in a new browser. */
async function refusalOf(
  provider: TestProvider,
  person: Person,
  changes: Record<string, string> = {},
): Promise<string> {
  const url = await provider.authorizeUrl({ ...changes, prompt: "login" });
  const { send } = await new Browser().sign(provider, person, url);
  return (await send()).body.code;
}

Deno.test("every key of a person has the same sub, even after the root's relationship ends", async () => {
  await using provider = await TestProvider.start({
    settings: {
      nameOf: (subject) => subject === root ? "Ann" : undefined,
      usernameOf: (subject) => subject === root ? "ann" : undefined,
    },
  });
  const { laptop, phone, relationship } = await twoKeys(provider);
  const root = laptop.did;
  for (const key of [laptop, phone]) {
    const tokens = await new Browser().tokens(provider, key);
    const { body } = await provider.userinfo(tokens.access_token);
    for (const claims of [decodeJwt(tokens.id_token), body]) {
      const { sub, name, preferred_username } = claims;
      assertEquals([sub, name, preferred_username], [root, "Ann", "ann"]);
    }
  }
  await provider.demo.revoke(relationship);
  const tokens = await new Browser().tokens(provider, phone);
  assertEquals(decodeJwt(tokens.id_token).sub, root);
  const { body } = await provider.refresh(tokens.refresh_token);
  assertEquals(decodeJwt(body.id_token).sub, root);
});

Deno.test("the relationship of the signing key decides: only its sessions end, with a logout token of the person", async () => {
  await using receiver = new Receiver();
  await using provider = await TestProvider.start({ receiver });
  const { laptop, phone, added } = await twoKeys(provider);
  const ofPhone = await new Browser().tokens(provider, phone);
  const ofLaptop = await new Browser().tokens(provider, laptop);
  await provider.demo.revoke(added);
  await provider.watch();
  await provider.deliver();
  const received = receiver.delivered.map((token) => decodeJwt(token));
  assertEquals(
    received.map(({ sub, sid }) => [sub, sid]),
    [[laptop.did, decodeJwt(ofPhone.id_token).sid]],
  );
  assertEquals((await provider.refresh(ofPhone.refresh_token)).status, 400);
  assertEquals((await provider.refresh(ofLaptop.refresh_token)).status, 200);
  assertEquals(await refusalOf(provider, phone), "relationship_denied");
});

Deno.test("a second key of the person continues the session; another person ends it and begins a new one", async () => {
  await using provider = await TestProvider.start();
  const { laptop, phone } = await twoKeys(provider);
  const { person: bob } = await provider.employ();
  const browser = new Browser();
  const logIn = async (key: Person) => {
    const tokens = await browser.tokens(provider, key, { prompt: "login" });
    return { ...tokens, sid: decodeJwt(tokens.id_token).sid };
  };
  const { sid } = await logIn(laptop);
  const second = await logIn(phone);
  assertEquals(second.sid, sid);
  assertNotEquals((await logIn(bob)).sid, sid);
  assertEquals((await provider.refresh(second.refresh_token)).status, 400);
});

Deno.test("every key of the hinted person may answer, and no other person", async () => {
  await using provider = await TestProvider.start();
  const { laptop, phone } = await twoKeys(provider);
  const { person: bob } = await provider.employ();
  const browser = new Browser();
  const { id_token } = await browser.tokens(provider, laptop);
  const others = new Browser();
  for (
    const hint of [{ id_token_hint: id_token }, { login_hint: laptop.did }]
  ) {
    await others.tokens(provider, phone, { ...hint, prompt: "login" });
    // A silent login works with the session of another key.
    assertEquals(await others.silentError(provider, hint), null);
    assertEquals(await refusalOf(provider, bob, hint), "subject_mismatch");
  }
});

Deno.test("a person whose DID is longer than 255 characters gets no session, since sub has a limit", async () => {
  await using provider = await TestProvider.start();
  const url = await provider.authorizeUrl();
  for (const length of [255, 256]) {
    const root = "did:web:people.example:".padEnd(length, "a");
    const person = new Person();
    await provider.demo.enrol(root);
    await provider.demo.enrol(person.did, undefined, root);
    const browser = new Browser();
    const { send } = await browser.sign(provider, person, url);
    const { status, body } = await send();
    assertEquals(
      [status, body.code, body.detail],
      length === 255 ? [200, undefined, undefined] : [
        400,
        "invalid_identifier",
        "Cannot sign in: applications take identifiers of at most 255 ASCII characters",
      ],
    );
    const name = cookieAt("sig-session", provider);
    assertEquals(browser.cookies.has(name), length === 255);
  }
});
