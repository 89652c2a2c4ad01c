import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ToolMissingError } from '../../../src/adapters/tool-programs.js';
import { IpSetTool, mayHaveIpSets } from '../../../src/adapters/ipset/ipset-tool.js';

const NAMES = new Set(['KUBE-CLUSTER-IP', 'KUBE-NODE-PORT-TCP']);

describe('sets without the tool', () => {
  const path = process.env.PATH;
  beforeEach(() => (process.env.PATH = '/nonexistent'));
  afterEach(() => (process.env.PATH = path));

  const read = (lookInKernel: (names: ReadonlySet<string>) => Promise<boolean>) =>
    new IpSetTool({ lookInKernel }).read(NAMES);

  it('are none where the kernel has none of them', async () => {
    const asked: ReadonlySet<string>[] = [];
    const found = await read((names) => {
      asked.push(names);
      return Promise.resolve(false);
    });
    expect(found).toEqual({ sets: [], foreign: [] });
    expect(asked).toEqual([NAMES]);
  });

  it.each([
    ['has some', () => Promise.resolve(true)],
    ['cannot be asked', () => Promise.reject(new Error('no netlink'))],
  ])('cannot be read where the kernel %s', async (_, lookInKernel) => {
    await expect(read(lookInKernel)).rejects.toThrow(ToolMissingError);
  });
});

it('knows from /sys whether the kernel may have sets', () => {
  const sys = mkdtempSync(join(tmpdir(), 'sys-'));
  try {
    expect(mayHaveIpSets(sys)).toBe(true);
    mkdirSync(join(sys, 'module'));
    expect(mayHaveIpSets(sys)).toBe(false);
    mkdirSync(join(sys, 'module/ip_set'));
    expect(mayHaveIpSets(sys)).toBe(true);
  } finally {
    rmSync(sys, { recursive: true });
  }
});
