/** In place of `node:fs/promises`. */
import { world } from '../world/current.js';
import * as files from './node-fs.js';

/** As on a thread of its own: done a moment later. */
function later<T>(work: () => T): Promise<T> {
  return new Promise((resolve, reject) => {
    world.scheduler.after(0.01, () => {
      try {
        resolve(work());
      } catch (error) {
        reject(error as Error);
      }
    });
  });
}

type Parameters<T> = T extends (...values: infer P) => unknown ? P : never;

export const readFile = (...values: Parameters<typeof files.readFileSync>) =>
  later(() => files.readFileSync(...values));
export const writeFile = (...values: Parameters<typeof files.writeFileSync>) =>
  later(() => files.writeFileSync(...values));
export const readdir = (...values: Parameters<typeof files.readdirSync>) =>
  later(() => files.readdirSync(...values));
export const stat = (...values: Parameters<typeof files.statSync>) => later(() => files.statSync(...values));
export const lstat = stat;
export const realpath = (path: string) => later(() => files.realpathSync(path));
export const mkdir = () => later(() => undefined);
export const rename = mkdir;
export const mkdtemp = (prefix: string) => later(() => `${prefix}simulated`);
export const rm = (path: string) => later(() => world.files.remove(path));
export const open = (path: string, flags?: string | number) =>
  later(() => {
    const fd = files.openSync(path, flags);
    return { fd, close: () => later(() => files.closeSync(fd)) };
  });
export * as default from './node-fs-promises.js';
