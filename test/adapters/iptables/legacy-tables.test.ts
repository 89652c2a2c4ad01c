import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { legacyTables } from '../../../src/adapters/iptables/variants.js';

describe('the tables of ip_tables', () => {
  let folder: string;
  beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), 'kptables-'))));
  afterEach(() => rm(folder, { recursive: true }));

  it('are those that the kernel lists for the family', async () => {
    await writeFile(join(folder, 'ip_tables_names'), 'nat\nmangle\n');
    await writeFile(join(folder, 'ip6_tables_names'), '');
    expect(legacyTables('IPv4', folder)).toEqual(['nat', 'mangle']);
    expect(legacyTables('IPv6', folder)).toEqual([]);
  });

  it('are none where the kernel has no ip_tables', () => {
    expect(legacyTables('IPv4', folder)).toEqual([]);
  });

  it('cannot be told where the list cannot be read', async () => {
    await mkdir(join(folder, 'ip_tables_names'));
    expect(legacyTables('IPv4', folder)).toBeUndefined();
  });
});
