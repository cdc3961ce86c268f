/** A small file system, on Linux and as root only. @module */

/** A small file system, mounted during one test. */
export interface SmallDisk {
  /** The mount point. */
  readonly path: string;
  /** Remounts it with other options (`size=4m`, `ro`). */
  remount(options: string): void;
  /** Fills it except for some pages of 4 KiB (default: 0). */
  fill(leaving?: number): void;
}

/**
 * Defines a test with a disk of a given size; ignored where it can't be
 * mounted.
 */
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

/** Mounts a file system; returns false where that is not permitted. */
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
