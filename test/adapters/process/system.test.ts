import { execFileSync } from 'node:child_process';
import { InterfaceAddresses } from '../../../src/adapters/process/host-facts.js';
import { SystemClock } from '../../../src/adapters/process/system-clock.js';

describe('SystemClock', () => {
  it('returns the time, calls back once, and not when canceled', async () => {
    const clock = new SystemClock();
    expect(Math.abs(clock.now() - Date.now())).toBeLessThan(1000);
    const fired: string[] = [];
    clock.after(5, () => fired.push('kept'));
    clock.after(5, () => fired.push('cancelled')).cancel();
    clock.after(2 ** 40, () => fired.push('much later')).cancel();
    await new Promise((done) => setTimeout(done, 50));
    expect(fired).toEqual(['kept']);
  });

  it('calls back in the next turn where there is nothing to wait for, and not when cancelled', async () => {
    const clock = new SystemClock();
    const fired: string[] = [];
    clock.after(0, () => fired.push('kept'));
    clock.after(0, () => fired.push('cancelled')).cancel();
    expect(fired).toEqual([]);
    await new Promise((done) => setImmediate(done));
    expect(fired).toEqual(['kept']);
  });
});

describe('InterfaceAddresses', () => {
  it('lists what the system lists', () => {
    const addresses = new InterfaceAddresses().list();
    expect(addresses).toContain('127.0.0.1');
    expect(addresses.join()).not.toContain('%');
    const listed = execFileSync('ip', ['-o', 'addr', 'show', 'up'], { encoding: 'utf8' });
    const known = [...listed.matchAll(/inet6? ([^/ ]+)/g)].map(([, address]) => address);
    expect([...addresses].sort()).toEqual([...new Set(known)].sort());
  });
});
