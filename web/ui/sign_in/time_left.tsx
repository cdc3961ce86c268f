/** How long a request waits. @module */

import { useEffect, useRef, useState } from "preact/hooks";
import { countdown } from "../parts/time.tsx";

const TICK_MS = 500;
/** When the time left is said aloud, once. */
const LAST_CALL_SECONDS = 30;

/** A clock that counts down by the server's time, and says when it is over. */
export function TimeLeft({ expiresAt, now, onExpired }: {
  readonly expiresAt: string;
  readonly now: () => Date;
  readonly onExpired: () => void;
}) {
  const read = () => (Date.parse(expiresAt) - now().getTime()) / 1000;
  const [seconds, setSeconds] = useState(read);
  const over = useRef(onExpired);
  over.current = onExpired;
  useEffect(() => {
    const tick = () => {
      const left = read();
      setSeconds(left);
      if (left > 0) return;
      clearInterval(timer);
      over.current();
    };
    const timer = setInterval(tick, TICK_MS);
    tick();
    return () => clearInterval(timer);
  }, [expiresAt]);
  const isLow = seconds <= LAST_CALL_SECONDS;
  return (
    <span class="time-left" data-low={isLow}>
      <span class="digits" role="timer" title="Time left to answer">
        {countdown(seconds)}
      </span>
      <span class="visually-hidden" aria-live="polite">
        {isLow ? `Less than ${LAST_CALL_SECONDS} seconds left` : ""}
      </span>
    </span>
  );
}
