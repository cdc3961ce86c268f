/** A file system that is full soon; Linux, and only as root. @module */

/** One of its own, until the test that it was made for ends. */
export interface SmallDisk {
  /** Where it is. */
  readonly path: string;
  /** Mounts it with other options (`size=4m`, `ro`). */
  remount(options: string): void;
  /** Fills it, but for so many pages (default: none). */
  fill(leaving?: number): void;
}

/** A test with a disk of a size; ignored where none can be mounted. */
export function smallDiskTest(
  name: string,
  size: string,
  fn: (disk: SmallDisk) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore: !mountable,
    fn: async () => {
      const path = await Deno.makeTempDir();
      mountOrThrow(path, `size=${size}`);
      try {
        await fn({
          path,
          remount: (options) => mountOrThrow(path, `remount,${options}`),
          fill: (leaving = 0) => fill(path, leaving),
        });
      } finally {
        unmount(path);
        await Deno.remove(path);
      }
    },
  });
}

const PAGE = new Uint8Array(4096);

function fill(path: string, leaving: number): void {
  for (let n = 0;; n++) {
    try {
      Deno.writeFileSync(`${path}/pad${n}`, PAGE, { createNew: true });
    } catch {
      for (let at = n; at >= n - leaving; at--) {
        Deno.removeSync(`${path}/pad${at}`);
      }
      return;
    }
  }
}

const mountable = isMountable();

function isMountable(): boolean {
  const path = Deno.makeTempDirSync();
  try {
    if (!mount(path, "size=64k")) return false;
    unmount(path);
    return true;
  } finally {
    Deno.removeSync(path);
  }
}

function mountOrThrow(path: string, options: string): void {
  if (!mount(path, options)) throw new Error(`Cannot mount: ${options}`);
}

/** False where that is not allowed. */
function mount(path: string, options: string): boolean {
  try {
    return new Deno.Command("mount", {
      args: ["-t", "tmpfs", "-o", options, "tmpfs", path],
      stderr: "null",
    }).outputSync().success;
  } catch {
    return false;
  }
}

function unmount(path: string): void {
  new Deno.Command("umount", { args: [path] }).outputSync();
}
