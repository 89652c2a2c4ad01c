import { execFile, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Systemd } from '../../../src/adapters/process/systemd.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { until } from '../../support/until.js';

/** Node cannot receive such datagrams either. */
const RECEIVER = `
use Socket;
my ($name, $count) = @ARGV;
socket(my $socket, AF_UNIX, SOCK_DGRAM, 0) or die $!;
bind($socket, pack_sockaddr_un($name =~ s/^@/\\0/r)) or die $!;
$| = 1;
print "bound\\n";
for (1 .. $count) { recv($socket, my $message, 4096, 0) // die $!; print "$message\\n"; }
`;

const receivers: ChildProcess[] = [];
afterAll(() => receivers.forEach((receiver) => receiver.kill('SIGKILL')));

async function received(name: string, count: number, send: (systemd: Systemd) => void): Promise<string[]> {
  const receiver = execFile('perl', ['-e', RECEIVER, name, String(count)]);
  receivers.push(receiver);
  let text = '';
  receiver.stdout!.on('data', (chunk: string) => (text += chunk));
  const ended = once(receiver.stdout!, 'end');
  await until('the receiver listens', () => Promise.resolve(text.startsWith('bound\n')));
  const environment = { NOTIFY_SOCKET: name, WATCHDOG_USEC: '30000000' };
  send(Systemd.fromEnvironment(environment, new MemoryLogger())!);
  await ended;
  return text.split('\n').slice(1, -1);
}

describe('Systemd', () => {
  it.each(['a file', 'an abstract name'])('is told over a socket that is %s', async (kind) => {
    const name =
      kind === 'a file' ? join(mkdtempSync(join(tmpdir(), 'notify-')), 'socket') : `@notify-${process.pid}`;
    const messages = await received(name, 4, (systemd) => {
      systemd.ready();
      systemd.alive();
      systemd.status('two\nlines');
      systemd.stopping();
    });
    expect(messages).toEqual(['READY=1', 'WATCHDOG=1', 'STATUS=two lines', 'STOPPING=1']);
    expect(existsSync(name)).toBe(kind === 'a file');
  });

  it('logs once that its socket is gone', () => {
    const logger = new MemoryLogger();
    const systemd = Systemd.fromEnvironment({ NOTIFY_SOCKET: '/nowhere/socket' }, logger)!;
    systemd.ready();
    systemd.ready();
    expect(logger.lines).toMatchObject([
      { level: 'warn', facts: { reason: expect.stringContaining('errno 2') } },
    ]);
  });

  it('is not there unless the environment says so', () => {
    const logger = new MemoryLogger();
    expect(Systemd.fromEnvironment({}, logger)).toBeUndefined();
    expect(Systemd.fromEnvironment({ NOTIFY_SOCKET: 'vsock:2:1' }, logger)).toBeUndefined();
    const environment = { NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '2000000' };
    expect(Systemd.fromEnvironment(environment, logger)!.watchdogMilliseconds).toBe(2_000);
    const ofAnother = { ...environment, WATCHDOG_PID: '1' };
    expect(Systemd.fromEnvironment(ofAnother, logger)!.watchdogMilliseconds).toBeUndefined();
  });
});
