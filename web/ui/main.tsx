/**
 * The page's script, which is its worker's too: one file to load, to keep in a
 * cache, and to trust. (SECURITY §5, W8)
 *
 * @module
 */
/// <reference lib="dom" />

import { render } from "preact";
import { App } from "./app.tsx";
import type { VerificationOrder } from "./feed/verification.ts";
import { verifyHere } from "./feed/verify_here.ts";

if (typeof document === "undefined") {
  addEventListener("message", ({ data }: MessageEvent<VerificationOrder>) => {
    void verifyHere(data, (news) => postMessage(news));
  });
} else {
  const place = document.getElementById("page");
  if (place) render(<App />, place);
}
