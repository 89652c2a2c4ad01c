/** In place of `node:os`. */
import * as real from 'node:os';
import { world } from '../world/current.js';

export const { constants, EOL } = real;
export const hostname = (): string => world.settings.nodeName;
export const release = (): string => world.settings.kernel;
export const endianness = (): 'LE' => 'LE';
export const availableParallelism = (): number => 2;
export const cpus = (): unknown[] => [{}, {}];
export const tmpdir = (): string => '/tmp';
export const homedir = (): string => '/root';
export const platform = (): string => 'linux';
export const networkInterfaces = (): ReturnType<typeof real.networkInterfaces> => ({});
export * as default from './node-os.js';
