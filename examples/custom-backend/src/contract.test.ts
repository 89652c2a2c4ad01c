import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { IP_FAMILIES, type Backend, type IpFamily } from 'kube-proxy-ts';
import { backendContract, type BackendSubject } from 'kube-proxy-ts/contract';
import { MemoryLogger } from 'kube-proxy-ts/fakes';
import { reconciledRoutesFile } from './routes-driver.js';
import { RoutesFileBackend } from './routes-file-backend.js';
import { RoutesFile } from './routes-file.js';

const ROUTES = 'routes.txt';

type Open = (family: IpFamily, file: RoutesFile) => Backend;
const BACKENDS: Readonly<Record<string, Open>> = {
  'by hand': (family, file) => new RoutesFileBackend(family, file),
  'with the reconciler': (family, file) => reconciledRoutesFile(family, file, new MemoryLogger()),
};

/** A place is a folder with another program's file in it. */
function subject(family: IpFamily, open: Open): BackendSubject<string> {
  const otherProgram = async (folder: string) => writeFile(join(folder, 'notes.txt'), 'not ours');
  return {
    family,
    async makePlace() {
      const folder = await mkdtemp(join(tmpdir(), 'routes-'));
      await otherProgram(folder);
      return folder;
    },
    removePlace: (folder) => rm(folder, { recursive: true, force: true }),
    open: (folder) => open(family, new RoutesFile(join(folder, ROUTES))),
    async snapshot(folder) {
      const names = (await readdir(folder)).sort();
      return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
    },
    // A line does not name its service.
    keepsUnexplained: false,
    damage: (folder) => appendFile(join(folder, ROUTES), 'nonsense\n'),
    async breakDown(folder, error) {
      if (error) return rm(folder, { recursive: true });
      await mkdir(folder);
      await otherProgram(folder);
    },
  };
}

for (const family of IP_FAMILIES)
  for (const [how, open] of Object.entries(BACKENDS))
    describe(`a file of routes for ${family}, ${how}`, () => {
      for (const { name, run } of backendContract(subject(family, open))) test(name, run);
    });
