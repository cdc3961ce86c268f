/// <reference lib="dom" />
import { assertEquals } from "@std/assert";
import { withIssuer } from "../cli/testdata/workspace.ts";
import { browserTest } from "../web/ui_test/testdata/browser.ts";
import { findFaults } from "../web/ui_test/testdata/faults.ts";

const EVIL = `</td><img src=x onerror=alert(1)>{{title}}`;

/** Returns how a table is displayed. */
const MEDIA = [
  ["light", { media: "screen", colorScheme: "light" }, "rgb(0, 0, 0)"],
  ["dark", { media: "screen", colorScheme: "dark" }, "rgb(255, 255, 255)"],
  ["print", { media: "print", colorScheme: "dark" }, "rgb(0, 0, 0)"],
] as const;

browserTest(
  "audit and who make pages without faults, light, dark and in print, whatever people are called",
  async (browser) => {
    await withIssuer(async (workspace) => {
      await Deno.writeTextFile(
        workspace.path("acme/.sig/people.csv"),
        `subject,name\ndid:web:alice.example,"${EVIL}"\n`,
      );
      for (const [name, rows] of [["audit", 3], ["who", 1]] as const) {
        const words = [name, "$D/acme", "--format", "html"];
        const { code, stdout, stderr } = await workspace.sig(words);
        assertEquals([code, stderr], [0, ""]);
        const page = await browser.newPage();
        await page.setContent(stdout);
        for (const [look, media, colour] of MEDIA) {
          await page.emulateMedia(media);
          assertEquals(await findFaults(page), [], `${name} ${look}`);
          const shown = await page.locator("h1").evaluate((each) =>
            getComputedStyle(each).color
          );
          assertEquals(shown, colour, `${name} ${look}`);
        }
        assertEquals(await page.locator("tbody tr").count(), rows);
        assertEquals(await page.locator("img, script").count(), 0);
        assertEquals(
          await page.locator("td", { hasText: "onerror" }).first()
            .textContent(),
          EVIL,
        );
        await page.close();
      }
    });
  },
);
