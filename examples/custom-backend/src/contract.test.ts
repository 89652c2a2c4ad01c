import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { IP_FAMILIES, type IpFamily } from 'kube-proxy-ts';
import { backendContract, type BackendSubject } from 'kube-proxy-ts/contract';
import { RoutesFileBackend } from './routes-file-backend.js';

const ROUTES = 'routes.txt';

/** A place is a folder with a file of somebody else's in it. */
function subject(family: IpFamily): BackendSubject<string> {
  const stranger = async (folder: string) => writeFile(join(folder, 'notes.txt'), 'not ours');
  return {
    family,
    async makePlace() {
      const folder = await mkdtemp(join(tmpdir(), 'routes-'));
      await stranger(folder);
      return folder;
    },
    removePlace: (folder) => rm(folder, { recursive: true, force: true }),
    open: (folder) => new RoutesFileBackend(family, join(folder, ROUTES)),
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
      await stranger(folder);
    },
  };
}

for (const family of IP_FAMILIES)
  describe(`a file of routes for ${family}`, () => {
    for (const { name, run } of backendContract(subject(family))) test(name, run);
  });
