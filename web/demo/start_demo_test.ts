import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { listen } from "@sig/api/program";
import { Browser, testKeys } from "../openid/testdata/test_provider.ts";
import { Person } from "../testdata/independent_client.ts";
import {
  type RunningDemo,
  startRunningDemo,
} from "../testdata/running_demo.ts";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { waitUntil } from "../../tests/kit/wait.ts";
import { startDemo } from "./start_demo.ts";
import { createWiki } from "./wiki.ts";

/** A person in a browser; cookies are kept by host, not by port. */
class Guest {
  readonly person = new Person();
  readonly browser = new Browser();
  readonly #demo: RunningDemo;

  constructor(demo: RunningDemo) {
    this.#demo = demo;
  }

  /** Follows an application's links, and signs when the login asks for it. */
  async open(url: string): Promise<{ text: string; asked: number }> {
    let asked = 0;
    for (let next = url;;) {
      const { hash } = new URL(next);
      if (hash.startsWith("#/sign-in/")) {
        if (++asked > 1) throw new Error("it asked twice");
        next = await this.sign(hash.slice("#/sign-in/".length));
      }
      const response = await this.browser.send(next);
      const text = await response.text();
      const location = response.headers.get("location");
      if (location === null) {
        assertEquals(response.status, 200, text);
        return { text, asked };
      }
      next = new URL(location, next).href;
    }
  }

  /** Approves a request of the login, and returns where the answer leads. */
  async sign(id: string): Promise<string> {
    const { origin } = this.#demo;
    const { challenge } = await this.browser.interaction(origin, id);
    const attestation = this.person.attest(challenge, Date.now());
    const { status, text, body } = await this.browser.answer(origin, id, {
      attestation,
    });
    assertEquals(status, 200, text);
    return body.redirect_to;
  }

  /**
   * Returns the status of the poll that an open page of an application sends.
   */
  async alive(url: string): Promise<number> {
    const [status] = await ending(this.browser.send(`${url}alive`));
    return status;
  }
}

/** Returns the status and the location of a response. */
async function ending(sent: Promise<Response>) {
  const { status, headers, body } = await sent;
  await body?.cancel();
  return [status, headers.get("location")] as const;
}

/** Returns the URLs of the shop and the wiki. */
async function urlsOf(demo: RunningDemo): Promise<[string, string]> {
  const { apps } = (await demo.ask("/demo/state")).body;
  return apps.map(({ url }: { url: string }) => url);
}

/** Returns whether each application is open to a subject. */
async function openOf(demo: RunningDemo, subject: string): Promise<boolean[]> {
  const { apps } = (await demo.ask(`/demo/state?subject=${subject}`)).body;
  return apps.map(({ open }: { open: boolean }) => open);
}

Deno.test("both applications show the name as text, and the log omits successful polls", async () => {
  await using demo = await startRunningDemo(["--log", "text"]);
  const [shop, wiki] = await urlsOf(demo);
  const guest = new Guest(demo);
  const { did } = guest.person;
  await demo.ask("/demo/enrol", { subject: did, name: "Zoë <b>" });
  const first = await guest.open(shop);
  assertEquals(first.asked, 1);
  // The second application needs no new sign-in.
  const second = await guest.open(wiki);
  assertEquals(second.asked, 0);
  for (const { text } of [first, second]) {
    assert(text.includes('<p class="name">Zoë &lt;b&gt;</p>'), text);
    assert(text.includes("<span>employee</span><span>deploy</span>"), text);
  }
  assertEquals([await guest.alive(shop), await guest.alive(wiki)], [204, 204]);
  assertEquals(await openOf(demo, did), [true, true]);
  // The log of another process arrives late.
  await waitUntil(
    "the token is logged",
    () => demo.said().includes("/oidc/token 200"),
  );
  assert(!/\/(forward-auth|oidc\/userinfo) 200/.test(demo.said()));
});

Deno.test("a person without employment gets into neither application, and a forged header has no effect", async () => {
  await using demo = await startRunningDemo();
  const [shop, wiki] = await urlsOf(demo);
  const redirect = "manual";
  const headers = { "remote-user": "did:web:ceo.example" };
  const [status, location] = await ending(fetch(wiki, { headers, redirect }));
  assertEquals(status, 303);
  assertMatch(location ?? "", /\/gate\/login\?rd=/);
  const callback = `${shop}callback?code=1`;
  assertEquals(await ending(fetch(callback, { redirect })), [303, "/"]);
  // The response to a login of another browser: the PKCE verifier does not
  // match.
  const browser = new Browser();
  await browser.follow(shop);
  assertEquals(await ending(browser.send(callback)), [303, "/"]);
  for (const url of [shop, wiki]) {
    const { port } = new URL(url);
    const other = await fetch(`http://localhost:${port}/closed`);
    assertEquals([other.status, await other.text()], [
      421,
      "unknown host",
    ]);
    // The application doesn't know why it would be closed; the login decides.
    const odd = `${url}closed?subject=%3Cscript%3E`;
    assertEquals(await ending(fetch(odd, { redirect })), [303, "/"]);
  }
});

Deno.test("after declining, a person sees a page of the shop that says so", async () => {
  await using demo = await startRunningDemo();
  const [url] = await urlsOf(demo);
  const browser = new Browser();
  const id = await browser.begin((await browser.follow(url)).href);
  const { body } = await browser.answer(demo.origin, id, { declined: true });
  const page = await fetch(body.redirect_to);
  assertStringIncludes(await page.text(), "<h1>You declined</h1>");
  assertMatch(
    page.headers.get("content-security-policy") ?? "",
    /^default-src 'none'; script-src 'self'/,
  );
});

Deno.test("the code of another browser is rejected by the shop", async () => {
  await using demo = await startRunningDemo();
  const [url] = await urlsOf(demo);
  const [own, other] = [new Guest(demo), new Guest(demo)];
  await demo.ask("/demo/enrol", { subject: own.person.did });
  const { href } = await own.browser.follow(url);
  const callback = await own.sign(await own.browser.begin(href));
  await other.browser.follow(url);
  for (const [guest, status] of [[other, 401], [own, 204]] as const) {
    assertEquals(await ending(guest.browser.send(callback)), [303, "/"]);
    assertEquals(await guest.alive(url), status);
  }
});

Deno.test("a login that expires ends the visit at an application without notifications", async () => {
  let skewMs = 0;
  const now = () => new Date(Date.now() + skewMs);
  const flags = ["--log", "off", "--session", "1m"];
  await using demo = await startRunningDemo(flags, now);
  const urls = await urlsOf(demo);
  const guest = new Guest(demo);
  const { did } = guest.person;
  await demo.ask("/demo/enrol", { subject: did });
  for (const url of urls) {
    await guest.open(url);
    assertEquals(await guest.alive(url), 204);
  }
  // The browser's own clock stays, so cookies are still sent.
  skewMs = 61_000;
  for (const url of urls) assertEquals(await guest.alive(url), 401);
  assertEquals(await openOf(demo, did), [false, false]);
});

Deno.test("applications listen on the ports after the login's, or on others if those are taken", async () => {
  using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = taken.addr;
  const login = `http://127.0.0.1:${port - 1}`;
  const asked: number[] = [];
  const now = () => new Date();
  const demo = await startDemo({
    ...DEMO,
    ...{ url: login, audiences: [login], now },
    address: { hostname: "127.0.0.1", port: port - 1 },
    settings: { clients: () => new Map(), keys: await testKeys() },
    serve: (address, respond) => {
      asked.push(address.port);
      return Promise.try(() => listen(address, respond));
    },
  });
  try {
    assertEquals(asked.slice(0, 3), [port, 0, port + 1]);
    assertEquals(demo.settings?.gateHosts?.length, 1);
    assertEquals([...demo.settings!.clients().keys()], ["demo-shop"]);
  } finally {
    await demo.close();
  }
});

const DEMO = { require: undefined, scopes: [], log: undefined };

Deno.test("a demo at an address that can't be a did:web is an error", async () => {
  await expectSigError(
    startDemo({
      ...DEMO,
      address: { hostname: "::1", port: 8788 },
      url: "http://[::1]:8788",
      audiences: ["http://[::1]:8788"],
      settings: { clients: () => new Map(), keys: await testKeys() },
      serve: () => Promise.reject(new Error("it listens already")),
      now: () => new Date(),
    }),
    "invalid_request",
    "Cannot run: --demo creates an issuer at --addr, and a did:web can't contain an IPv6 address",
  );
});

Deno.test("while the login does not answer, an application is closed; afterwards it is open again", async () => {
  const login = { status: 200 };
  const subject = "did:web:a.example";
  await using server = serveLoopback(() =>
    new Response(null, {
      status: login.status,
      headers: { "remote-user": subject },
    })
  );
  const wiki = createWiki(server.origin, "http://127.0.0.1:1", {
    links: () => [],
    endOf: () => undefined,
  });
  const open = async (path: string) => {
    const response = await wiki.routes.request(`http://127.0.0.1:1/${path}`);
    return { status: response.status, text: await response.text() };
  };
  const isOpen = () => wiki.isOpenTo(subject);
  assertEquals([(await open("")).status, await isOpen()], [200, true]);
  login.status = 503;
  const { status, text } = await open("");
  assertEquals(
    [status, text.includes("<h1>The login does not answer</h1>")],
    [503, true],
  );
  assertEquals([(await open("alive")).status, await isOpen()], [503, false]);
  login.status = 200;
  assertEquals([(await open("alive")).status, await isOpen()], [204, true]);
});

Deno.test("a demo whose audience is a DID has no applications", async () => {
  await using demo = await startRunningDemo([
    ...["--log", "off", "--audience", "did:web:127.0.0.1%3A8788"],
  ]);
  assertEquals(await openOf(demo, ""), []);
});
