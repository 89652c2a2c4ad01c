/** In place of `node:fs`: the files of the simulated machine. */
import { EventEmitter } from 'node:events';
import { constants } from 'node:fs';
import { world } from '../world/current.js';
import { systemError, type FileFacts } from '../world/files.js';

export { constants };

type Encoding = BufferEncoding | { readonly encoding?: BufferEncoding } | null | undefined;
type Place = string | URL | number;

const pathOf = (place: Place): string =>
  typeof place === 'number'
    ? world.descriptors.pathOf(place)
    : typeof place === 'string'
      ? place
      : place.pathname;

function decoded(data: string | Buffer, encoding: Encoding): string | Buffer {
  const name = typeof encoding === 'string' ? encoding : encoding?.encoding;
  if (name) return typeof data === 'string' ? data : data.toString(name);
  return typeof data === 'string' ? Buffer.from(data) : data;
}

const no = (): boolean => false;

const statsOf = ({ isFolder, inode, size, mode, changed }: FileFacts) => ({
  ...{ dev: 1, ino: inode, size, mode, birthtimeMs: 0 },
  ...{ mtimeMs: changed, ctimeMs: changed, mtime: new Date(changed) },
  isFile: (): boolean => !isFolder,
  isDirectory: (): boolean => isFolder,
  ...{ isFIFO: no, isSocket: no, isSymbolicLink: no },
});

type Stats = ReturnType<typeof statsOf>;

export const existsSync = (path: Place): boolean => world.files.has(pathOf(path));
export const readFileSync = (path: Place, encoding?: Encoding): string | Buffer =>
  decoded(world.files.read(pathOf(path)), encoding);
export const writeFileSync = (path: Place, data: string | Buffer): void => {
  if (world.files.has(pathOf(path))) world.files.write(pathOf(path), Buffer.from(data));
  else world.files.put(pathOf(path), data);
};
export const appendFileSync = writeFileSync;
export const readdirSync = (path: Place, { withFileTypes = false } = {}): readonly unknown[] => {
  const folder = pathOf(path);
  const names = world.files.list(folder);
  if (!withFileTypes) return names;
  return names.map((name) =>
    Object.assign(statSync(`${folder.replace(/\/$/, '')}/${name}`)!, { name, parentPath: folder }),
  );
};
export function statSync(path: Place, { throwIfNoEntry = true } = {}): Stats | undefined {
  const facts = world.files.facts(pathOf(path));
  if (facts) return statsOf(facts);
  if (throwIfNoEntry) throw systemError('ENOENT', 'stat', pathOf(path));
  return undefined;
}
export const lstatSync = statSync;
export const fstatSync = (descriptor: number): Stats => statSync(descriptor)!;
export const realpathSync = (path: Place): string => pathOf(path);
export function openSync(path: Place, flags: string | number = 'r'): number {
  const name = pathOf(path);
  const creates = typeof flags === 'string' && /^[aw]/.test(flags);
  const writes =
    creates || (typeof flags === 'number' && (flags & (constants.O_WRONLY | constants.O_RDWR)) !== 0);
  if (!world.files.has(name) && creates) world.files.put(name, '');
  const facts = world.files.facts(name);
  if (!facts) throw systemError('ENOENT', 'open', name);
  if (writes && (facts.mode & 0o222) === 0) throw systemError('EROFS', 'open', name);
  return world.descriptors.open(name, world.scheduler.owner);
}
export const writeSync = (descriptor: number, data: string | Buffer): number => {
  const bytes = Buffer.from(data);
  world.files.write(pathOf(descriptor), bytes);
  return bytes.length;
};
export const closeSync = (descriptor: number): void => world.descriptors.close(descriptor);

/** The callback form, which the program turns into a promise. */
export function readFile(
  path: Place,
  encoding: Encoding,
  done: (error: Error | null, data?: string | Buffer) => void,
): void {
  world.scheduler.after(0, () => {
    let data: string | Buffer;
    try {
      data = readFileSync(path, encoding);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, data);
  });
}

export class FSWatcher extends EventEmitter {
  close: () => void = () => undefined;
}

export function watch(
  folder: string,
  _options: object,
  noticed: (event: string, name: string) => void,
): FSWatcher {
  const watcher = new FSWatcher();
  const { owner } = world.scheduler;
  watcher.close = world.files.watch(folder, (name) =>
    world.scheduler.after(0.1, () => noticed('rename', name), owner),
  );
  owner.onEnd(() => watcher.close());
  return watcher;
}

export * as default from './node-fs.js';
