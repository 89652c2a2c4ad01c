import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { builtProxy } from '../../support/program/built-proxy.js';
import { knowing, type StandIn } from './stand-ins.js';

const tools = fileURLToPath(new URL('../../cluster-tools/bin/', import.meta.url));

/** Folders with the real helm and kubectl, which `setup.sh tests` installs. */
export const clusterTools: readonly string[] = [join(tools, 'kubectl'), join(tools, 'helm')];

/** In a fresh clone, whose packages are there: what `npm run build` makes was made before, for all tests. */
export const npm: StandIn = knowing({
  install: () => undefined,
  'run build': async (_, { folder }) =>
    cp(dirname(await builtProxy()), join(folder, 'dist'), { recursive: true }),
});
