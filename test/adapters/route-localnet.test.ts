import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { routesLocalnet } from '../../src/adapters/sysctl.js';

describe('routesLocalnet', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'route-localnet-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  function put(name: string, value: string): void {
    mkdirSync(join(root, 'net/ipv4/conf', name), { recursive: true });
    writeFileSync(join(root, 'net/ipv4/conf', name, 'route_localnet'), `${value}\n`);
  }

  it('is so if one interface does, or all, and if nobody knows', () => {
    expect(routesLocalnet(root)).toBe(true);
    for (const name of ['all', 'default', 'eth0']) put(name, '0');
    expect(routesLocalnet(root)).toBe(false);
    put('cni0', '1');
    expect(routesLocalnet(root)).toBe(true);
    put('cni0', '0');
    put('all', '1');
    expect(routesLocalnet(root)).toBe(true);
  });
});
