import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { ConntrackSettingsError, setUpConntrackTable } from '../../src/adapters/sysctl.js';
import type { ConntrackSettings } from '../../src/domain/node/conntrack-sysctls.js';

const DEFAULTS: ConntrackSettings = {
  maxPerCore: 32_768,
  min: 131_072,
  tcpEstablishedTimeout: 86_400_000,
  tcpCloseWaitTimeout: 3_600_000,
  tcpBeLiberal: false,
  udpTimeout: 0,
  udpStreamTimeout: 0,
};
const HASH_SIZE = 'sys/module/nf_conntrack/parameters/hashsize';
const sysctl = (name: string) => `proc/sys/net/netfilter/nf_conntrack_${name}`;

let root: string;
let logger: MemoryLogger;
let notes: string[];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'conntrack-table-'));
  logger = new MemoryLogger();
  notes = [];
  put(HASH_SIZE, '65536');
  put(sysctl('max'), '65536');
  put(sysctl('tcp_timeout_established'), '432000');
  put(sysctl('tcp_timeout_close_wait'), '3600');
});
afterEach(() => rmSync(root, { recursive: true }));

function put(path: string, value: string): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), `${value}\n`);
}

const at = (path: string): string => readFileSync(join(root, path), 'utf8').trim();
const written = (): unknown[] => logger.at('info').map(({ facts }) => facts.name);

function setUp(settings: Partial<ConntrackSettings> = {}, cpus = 4): void {
  const folders = { proc: join(root, 'proc'), sys: join(root, 'sys') };
  setUpConntrackTable({ ...DEFAULTS, ...settings }, cpus, logger, (note) => notes.push(note), folders);
}

describe('setUpConntrackTable', () => {
  it('writes what differs, in order, and nothing the second time', () => {
    setUp();
    expect(written()).toEqual([
      'net/netfilter/nf_conntrack_max',
      'net/netfilter/nf_conntrack_tcp_timeout_established',
    ]);
    expect([at(sysctl('max')), at(sysctl('tcp_timeout_established'))]).toEqual(['131072', '86400']);
    logger.clear();
    setUp();
    expect(logger.lines).toEqual([]);
  });

  it('grows the hash table to a quarter of the limit, and never makes it smaller', () => {
    setUp({ min: 400_000 });
    expect(at(HASH_SIZE)).toBe('100000');
    setUp();
    expect(at(HASH_SIZE)).toBe('100000');
  });

  it('leaves limit and hash table alone without a number for each core', () => {
    rmSync(join(root, 'sys'), { recursive: true });
    setUp({ maxPerCore: 0 });
    expect(at(sysctl('max'))).toBe('65536');
  });

  it.each(['1048576', '9223372036854775807', '0'])(
    'never lowers a limit, nor sets one where there is none: %s',
    (present) => {
      put(sysctl('max'), present);
      setUp({ maxPerCore: 200_000 });
      expect([at(sysctl('max')), at(sysctl('tcp_timeout_established'))]).toEqual([present, '86400']);
      expect(at(HASH_SIZE)).toBe('200000');
      expect([logger.at('warn'), written()]).toEqual([
        [],
        ['net/netfilter/nf_conntrack_tcp_timeout_established'],
      ]);
    },
  );

  it.each(['-1', 'many', ''])('raises whatever is no higher limit: %j', (present) => {
    put(sysctl('max'), present);
    setUp();
    expect(at(sysctl('max'))).toBe('131072');
  });

  it('tries to raise a limit that cannot be read, and leaves it and the hash table alone when that fails', () => {
    rmSync(join(root, sysctl('max')));
    put(HASH_SIZE, '1');
    setUp();
    expect([at(HASH_SIZE), at(sysctl('tcp_timeout_established'))]).toEqual(['1', '86400']);
    expect(logger.at('warn')).toMatchObject([
      { facts: { wanted: '131072', error: { name: 'SysctlError' } } },
    ]);
  });

  it('stops at the first failure of another one, and says what is wrong', () => {
    rmSync(join(root, sysctl('tcp_timeout_established')));
    put(sysctl('tcp_timeout_close_wait'), '60');
    expect(() => setUp()).toThrow(ConntrackSettingsError);
    expect(() => setUp()).toThrow(
      /^could not set conntrack parameters from kube-proxy configuration: .*tcp_timeout_established to 86400.*ENOENT/,
    );
    expect([at(sysctl('max')), at(sysctl('tcp_timeout_close_wait'))]).toEqual(['131072', '60']);
  });

  it('fails when the hash size cannot be read', () => {
    rmSync(join(root, HASH_SIZE));
    expect(() => setUp()).toThrow(/could not set conntrack parameters .*hashsize/);
  });

  it('leaves a limit alone that the kernel offers for reading only, and the hash table with it', () => {
    chmodSync(join(root, sysctl('max')), 0o444);
    put(HASH_SIZE, '1');
    setUp();
    expect([at(sysctl('max')), at(HASH_SIZE), at(sysctl('tcp_timeout_established'))]).toEqual([
      '65536',
      '1',
      '86400',
    ]);
    expect(logger.at('warn')).toMatchObject([{ facts: { wanted: '131072', present: '65536' } }]);
    expect(statSync(join(root, sysctl('max'))).mode & 0o222).toBe(0);
  });
});
