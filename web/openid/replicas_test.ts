import { openStore } from "@sig/consumer/store";
import { assertEquals } from "@std/assert";
import {
  HAS_REDIS,
  startRedis,
  whileFrozen,
} from "../../tests/kit/redis_server.ts";
import { TestProvider } from "./testdata/test_provider.ts";

Deno.test({
  name:
    "while Redis hangs nothing is issued or lost, and the same token is valid afterwards",
  ignore: !HAS_REDIS,
  async fn() {
    await using redis = await startRedis();
    const store = await openStore(redis.url);
    try {
      await using provider = await TestProvider.start({ store });
      const { browser, access_token, refresh_token } = await provider.logIn();
      await whileFrozen(redis, async () => {
        const [token, info, page] = await Promise.all([
          provider.refresh(refresh_token),
          provider.userinfo(access_token),
          browser.send(await provider.authorizeUrl()),
        ]);
        await page.body?.cancel();
        for (const { status, body } of [token, info]) {
          assertEquals([status, body.error], [503, "temporarily_unavailable"]);
        }
        assertEquals([page.status, page.headers.get("location")], [503, null]);
      });
      assertEquals((await provider.refresh(refresh_token)).status, 200);
    } finally {
      await store.close();
    }
  },
});
