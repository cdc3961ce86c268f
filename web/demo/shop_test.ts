import { assertEquals } from "@std/assert";
import { Hono } from "hono";
import type { OpenIdClient } from "./openid_client.ts";
import { createShop } from "./shop.ts";

Deno.test("a logout token that overtakes the ID token lets nobody in", async () => {
  const app = new Hono();
  const tell = (sid: string) =>
    app.request("/backchannel-logout", {
      method: "POST",
      body: new URLSearchParams({ logout_token: sid }),
    });
  let duringExchange: string[] = [];
  const client: OpenIdClient = {
    begin: () =>
      Promise.resolve({
        location: "http://127.0.0.1/authorize",
        login: { state: "s", nonce: "n", verifier: "v" },
      }),
    async finish() {
      for (const sid of duringExchange) await tell(sid);
      return {
        subject: "did:web:a.example",
        name: "a",
        groups: [],
        sid: "1",
        authTime: Date.now() / 1000,
      };
    },
    readLogoutToken: (token) => Promise.resolve(token),
  };
  const shop = createShop({
    client,
    origin: "http://127.0.0.1:1",
    info: { id: "shop", name: "Shop", learns: "", links: () => [] },
    sessionMs: 60_000,
    now: () => new Date(),
  });
  shop.addTo(app);

  async function comeBack(): Promise<string | null> {
    const begun = await app.request("/");
    const [cookie = ""] = begun.headers.getSetCookie();
    const back = await app.request("/callback?state=s", {
      headers: { cookie: cookie.split(";")[0]! },
    });
    assertEquals(back.status, 303);
    return back.headers.get("location");
  }
  // That of another session says nothing about this one.
  duringExchange = ["2"];
  assertEquals(await comeBack(), "/");
  assertEquals(shop.isOpenTo("did:web:a.example"), true);
  await tell("1");
  duringExchange = ["1"];
  assertEquals(await comeBack(), "/closed?subject=did%3Aweb%3Aa.example");
  assertEquals(shop.isOpenTo("did:web:a.example"), false);
});
