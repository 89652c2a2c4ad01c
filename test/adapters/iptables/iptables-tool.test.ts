import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  IptablesKernelError,
  RestoreRejectedError,
  XtablesLockedError,
  XtablesLockFileError,
} from '../../../src/adapters/iptables/iptables-commands.js';
import {
  ToolFailedError,
  ToolMissingError,
  ToolPermissionError,
} from '../../../src/adapters/tool-programs.js';
import {
  IptablesTool,
  type IptablesToolOptions,
  XtablesLock,
} from '../../../src/adapters/iptables/iptables-tool.js';
import { SaveSyntaxError } from '../../../src/domain/iptables/saved-tables.js';

let folder: string;
let tools: IptablesTool[] = [];
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'iptables-tool-'))));
afterEach(() => {
  for (const tool of tools) tool.close();
  tools = [];
  rmSync(folder, { recursive: true });
});

/** A tool whose programs are these shell scripts, and no others. */
function toolWith(
  programs: Readonly<Record<string, string>>,
  options: IptablesToolOptions = {},
): IptablesTool {
  for (const [name, body] of Object.entries(programs)) {
    const path = join(folder, name);
    // One that still runs cannot be written to.
    rmSync(path, { force: true });
    writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  }
  const tool = new IptablesTool({
    launcher: ['/usr/bin/env', `PATH=${folder}`],
    lock: new XtablesLock(join(folder, 'xtables.lock')),
    ...options,
  });
  tools.push(tool);
  return tool;
}

const nft = (programs: Readonly<Record<string, string>>, version = '1.8.9') =>
  toolWith({ 'iptables-nft': `echo "iptables v${version} (nf_tables)"`, ...programs });

describe('IptablesTool', () => {
  it('says which tools these are', async () => {
    expect(await nft({}).identify()).toEqual({
      variant: 'nft',
      prefix: 'iptables-nft',
      version: '1.8.9',
      reason: 'the only one installed',
      randomFully: true,
    });
    expect(await nft({}, '1.6.1').identify()).toMatchObject({ randomFully: false });
  });

  it('has an error for a host without iptables, and looks again', async () => {
    const tool = toolWith({});
    await expect(tool.identify()).rejects.toThrow(ToolMissingError);
    toolWith({ 'iptables-nft': 'echo "iptables v1.8.9 (nf_tables)"' });
    expect(await tool.identify()).toMatchObject({ variant: 'nft' });
  });

  it('streams the input, and asks the tool to wait and not to flush', async () => {
    const tool = nft({
      'iptables-nft-restore': `/bin/cat > ${folder}/in; echo "$@" > ${folder}/parameters`,
    });
    await tool.restore('IPv4', ['*nat\n', ':A - [0:0]\n', 'COMMIT\n'].values());
    expect(readFileSync(join(folder, 'in'), 'utf8')).toBe('*nat\n:A - [0:0]\nCOMMIT\n');
    expect(readFileSync(join(folder, 'parameters'), 'utf8')).toBe('-w --noflush --counters\n');
  });

  it('reports the generations that its child made, if it can hear them', async () => {
    const programs = {
      'iptables-nft': 'echo "iptables v1.8.9 (nf_tables)"',
      'iptables-nft-restore': `echo $$ > ${folder}/pid`,
    };
    const closed: number[] = [];
    const heard: number[] = [];
    const listen = () => ({
      generationsOf: (child: number) => [heard.push(child)],
      close: () => void closed.push(heard.length),
    });
    expect(await toolWith(programs, { listen }).restore('IPv4', [].values())).toMatchObject({
      generations: [1],
    });
    expect(heard).toEqual([Number(readFileSync(join(folder, 'pid'), 'utf8'))]);
    expect(closed).toEqual([1]);
    const deaf = toolWith(programs, {
      listen: () => {
        throw new Error('no netlink');
      },
    });
    expect(await deaf.restore('IPv4', [].values())).toMatchObject({ generations: undefined });
  });

  it('makes no more input once the tool has ended', async () => {
    const tool = nft({
      'iptables-nft-restore': 'read line; echo "iptables-restore: line 1 failed" >&2; exit 1',
    });
    let made = 0;
    function* pieces(): Generator<string> {
      for (;;) yield made++ % 2 === 0 ? '-A KUBE-X -j RETURN\n' : '';
    }
    await expect(tool.restore('IPv4', pieces())).rejects.toThrow(RestoreRejectedError);
    const madeThen = made;
    await sleep(50);
    expect(made).toBe(madeThen);
    expect(made).toBeGreaterThan(0);
  });

  it('lets others have their turn while it makes input', async () => {
    const tool = nft({ 'iptables-nft-restore': '/bin/cat > /dev/null' });
    let turn = 0;
    const turns = new Set<number>();
    let others = setImmediate(function next() {
      turn++;
      others = setImmediate(next);
    });
    function* pieces(): Generator<string> {
      for (let piece = 0; piece < 100; piece++) {
        turns.add(turn);
        yield '';
      }
    }
    await tool.restore('IPv4', pieces()).finally(() => clearImmediate(others));
    expect(turns.size).toBeGreaterThan(50);
  });

  it.each([
    ['a refusal', 'echo "iptables-restore: line 2 failed" >&2; exit 1', RestoreRejectedError],
    [
      'a lock',
      'echo "Another app is currently holding the xtables lock. Stopped waiting after 5s." >&2; exit 4',
      XtablesLockedError,
    ],
    [
      'missing rights',
      'echo "iptables-nft-restore v1.8.9 (nf_tables): Could not fetch rule set generation id: Permission denied (you must be root)" >&2; exit 4',
      ToolPermissionError,
    ],
    [
      'a lock file that cannot be opened',
      'echo "Fatal: can\'t open lock file /run/xtables.lock: Read-only file system" >&2; exit 4',
      XtablesLockFileError,
    ],
    [
      'a kernel without nf_tables',
      'echo "iptables-nft-restore/1.8.9 (nf_tables) Failed to initialize nft: Protocol not supported" >&2; exit 1',
      IptablesKernelError,
    ],
    [
      'a kernel whose nf_tables lacks the family',
      'echo "line 2: TABLE_ADD failed (Operation not supported): table filter" >&2; exit 4',
      IptablesKernelError,
    ],
    [
      'a kernel without the table',
      'echo "iptables-restore v1.8.9 (legacy): iptables-restore: unable to initialize table \'nat\'" >&2; exit 2',
      IptablesKernelError,
    ],
    ['a crash', 'kill -SEGV $$', ToolFailedError],
  ])('has an error of its own for %s', async (_, body, error) => {
    const tool = nft({ 'iptables-nft-restore': body });
    await expect(tool.restore('IPv4', ['*nat\nCOMMIT\n'].values())).rejects.toThrow(error);
  });

  it('names the matches that the kernel lacks, with a refusal and when it is asked', async () => {
    const missing = 'echo "Warning: Extension recent revision 0 not supported, missing kernel module?" >&2';
    const tool = nft({
      'iptables-nft-restore': `/bin/cat >> ${folder}/in; ${missing}; case "$*" in *--test) exit 0;; esac; echo "iptables-restore: line 2 failed" >&2; exit 1`,
    });
    expect(await tool.lackingMatches('IPv4')).toEqual(['recent']);
    expect(readFileSync(join(folder, 'in'), 'utf8')).toContain('-A KUBE-TRIAL -m recent ');
    await expect(tool.restore('IPv4', ['*nat\nCOMMIT\n'].values())).rejects.toMatchObject({
      failures: [{ line: 2 }],
      lacking: ['recent'],
    });
  });

  it('does not take a kernel without tables for one without a chain', async () => {
    const tool = nft({
      'iptables-nft':
        'case "$*" in *--version) echo "iptables v1.8.9 (nf_tables)";; *) echo "iptables: Failed to initialize nft: Protocol not supported" >&2; exit 1;; esac',
    });
    expect(await tool.problem('IPv4')).toContain('this kernel does not support this variant of iptables');
  });

  it('does not give up a family for what passes', async () => {
    const ending = (words: string, status: number) => {
      const answer = `echo "${words}" >&2; exit ${status}`;
      return nft({
        'iptables-nft': `case "$*" in *--version) echo "iptables v1.8.9 (nf_tables)";; *) ${answer};; esac`,
      }).problem('IPv4');
    };
    const locked = 'Another app is currently holding the xtables lock; waited 5s';
    expect(await ending(locked, 4)).toBeUndefined();
    expect(await ending('iptables: Resource temporarily unavailable.', 4)).toBeUndefined();
    expect(await ending('iptables: Cannot allocate memory', 1)).toBeUndefined();
    expect(await ending('iptables: something that nobody knows', 3)).toBeUndefined();
    expect(await ending('iptables: something that nobody knows', 1)).toBeUndefined();
    expect(await ending('iptables: Permission denied (you must be root)', 4)).toContain('you must be root');
    const killed = {
      'iptables-nft': 'case "$*" in *--version) echo "iptables v1.8.9 (nf_tables)";; *) kill -KILL $$;; esac',
    };
    expect(await nft(killed).problem('IPv4')).toBeUndefined();
  });

  it('does not choose a variant while it cannot be seen which of them the node uses', async () => {
    const version = (kind: string) =>
      `case "$*" in *--version) echo "iptables v1.8.9 (${kind})";; *) exit 1;; esac`;
    const locked = 'echo "Another app is currently holding the xtables lock; waited 5s" >&2; exit 4';
    const tool = toolWith({
      'iptables-nft': version('nf_tables'),
      'ip6tables-nft': 'exit 1',
      'iptables-legacy': version('legacy'),
      'iptables-legacy-save': locked,
      'ip6tables-legacy-save': locked,
    });
    await expect(tool.identify()).rejects.toThrow(XtablesLockedError);
    const hint = 'echo "*mangle"; echo ":KUBE-IPTABLES-HINT - [0:0]"; echo COMMIT';
    toolWith({ 'iptables-legacy-save': hint });
    expect(await tool.identify()).toMatchObject({ variant: 'legacy' });
  });

  it('does not take a program for absent that cannot say its version at the moment', async () => {
    const legacy = { 'iptables-legacy': 'echo "iptables v1.8.9 (legacy)"' };
    await expect(toolWith({ ...legacy, 'iptables-nft': 'exit 2' }).identify()).rejects.toThrow(
      ToolFailedError,
    );
    const broken = { ...legacy, 'iptables-nft': 'echo "error while loading shared libraries" >&2; exit 127' };
    expect(await toolWith(broken).identify()).toMatchObject({ variant: 'legacy' });
  });

  it('makes one restore at a time', async () => {
    const tool = nft({
      'iptables-nft-restore': `/bin/cat > /dev/null; [ -e ${folder}/busy ] && exit 1; : > ${folder}/busy; /bin/sleep 0.1; /bin/rm ${folder}/busy`,
    });
    const restore = () => tool.restore('IPv4', ['*nat\nCOMMIT\n'].values());
    await expect(Promise.all([restore(), restore(), restore()])).resolves.toHaveLength(3);
  });

  it('finds out that one family’s tools are missing', async () => {
    const tool = nft({});
    expect(await tool.problem('IPv6')).toContain('cannot start ip6tables-nft');
    expect(await nft({ 'ip6tables-nft': 'echo "-P POSTROUTING ACCEPT"' }).problem('IPv6')).toBeUndefined();
  });

  it('does not take a table of another making for an empty one', async () => {
    const tool = nft({ 'iptables-nft-save': "echo \"# Table \\`nat' is incompatible, use 'nft' tool.\"" });
    await expect(tool.save('IPv4')).rejects.toThrow('is incompatible');
  });

  it('reads what is listed while it comes', async () => {
    await expect(nft({}).save('IPv6')).rejects.toThrow(ToolMissingError);
    const tool = nft({
      'iptables-nft-save':
        'echo "*nat"; echo ":A - [0:0]"; printf "%s" "-A A -j "; /bin/sleep 0.05; echo B; echo COMMIT',
      'ip6tables-nft-save': 'echo "*nat"; echo nonsense; exec /bin/sleep 30',
    });
    const chains = [{ name: 'A', policy: undefined, rules: ['-j B'] }];
    expect(await tool.save('IPv4')).toEqual([{ name: 'nat', chains }]);
    await expect(tool.save('IPv6')).rejects.toThrow(SaveSyntaxError);
  });

  it('lists the rules of a chain, or that there is none', async () => {
    const tool = nft({
      'iptables-nft':
        'case "$*" in *--version) echo "iptables v1.8.9 (nf_tables)";; *GONE) exit 1;; *) echo "-N A"; echo "-A A -j B"; echo "-A A";; esac',
    });
    expect(await tool.listChain('IPv4', 'nat', 'A')).toEqual(['-j B', '']);
    expect(await tool.listChain('IPv4', 'nat', 'GONE')).toBeUndefined();
  });

  it('ends what runs when it is told to', async () => {
    const tool = nft({ 'iptables-nft-save': 'exec /bin/sleep 30' });
    await tool.identify();
    const stop = new AbortController();
    const aborted = expect(tool.save('IPv4', stop.signal)).rejects.toThrow('enough');
    setTimeout(() => stop.abort(new Error('enough')), 50);
    await aborted;
    const closed = expect(tool.save('IPv4')).rejects.toThrow(ToolFailedError);
    setTimeout(() => tool.close(), 50);
    await closed;
  });
});

describe('XtablesLock', () => {
  it('is free at once where nobody holds it', async () => {
    expect(await new XtablesLock(join(folder, 'xtables.lock')).waitUntilFree(1)).toEqual({
      free: true,
      seconds: 0,
    });
  });

  it('cannot tell where it cannot be tried', async () => {
    expect(await new XtablesLock(join(folder, 'nowhere', 'lock')).waitUntilFree(1)).toBeUndefined();
    expect(await new XtablesLock(join(folder, 'lock'), undefined).waitUntilFree(1)).toBeDefined();
  });

  it('tries again after pauses that grow, up to a twentieth of a second', async () => {
    const EAGAIN = 11;
    const pauses: number[] = [];
    const calls = { flock: () => (pauses.length < 7 ? -1 : 0), errno: () => EAGAIN };
    const lock = new XtablesLock(join(folder, 'lock'), calls, (milliseconds) => {
      pauses.push(milliseconds);
      return Promise.resolve();
    });
    expect(await lock.waitUntilFree(3600)).toMatchObject({ free: true });
    expect(pauses).toEqual([5, 10, 20, 40, 50, 50, 50]);
  });

  it('gives up in time', async () => {
    const held = { flock: () => -1, errno: () => 11, socket: () => -1, getsockopt: () => -1, close: () => 0 };
    const outcome = await new XtablesLock(join(folder, 'lock'), held).waitUntilFree(0.1);
    expect(outcome).toMatchObject({ free: false });
    expect(outcome!.seconds).toBeLessThan(20);
  });

  it('says when it cannot be opened', async () => {
    const problem = await new XtablesLock(join(folder, 'nowhere', 'lock')).problem();
    expect(problem).toMatch(
      /nowhere\/lock cannot be opened, .* mount the host's lock file, writable \(ENOENT/,
    );
  });

  it.each([
    ['the container’s own', [], true],
    ['mounted from the host', ['33 30 0:9 /run/xtables.lock LOCK rw - tmpfs tmpfs rw'], false],
    ['in a mounted folder', ['33 30 0:9 / FOLDER rw shared:1 - tmpfs tmpfs rw'], false],
    ['of a host', ['30 1 8:1 / / rw - ext4 /dev/sda1 rw'], false],
  ])('knows whether the lock file is %s', async (_, mounts, isProblem) => {
    const lock = join(folder, 'xtables.lock');
    const file = join(folder, 'mountinfo');
    const container = ['30 1 0:40 / / rw - overlay overlay rw', '31 30 0:5 / /proc rw - proc proc rw'];
    const lines = [...container, ...mounts].map((line) =>
      line.replace('LOCK', lock).replace('FOLDER', folder),
    );
    writeFileSync(file, `${lines.join('\n')}\n`);
    const problem = await new XtablesLock(lock).problem(file);
    expect(problem !== undefined).toBe(isProblem);
  });
});
