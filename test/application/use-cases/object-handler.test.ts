import { FamilyLoops } from '../../../src/application/sync/sync-loop.js';
import { ListeningLoop, services } from './bench.js';

describe('FamilyLoops', () => {
  it('notifies the affected families; a family that is not served is skipped', () => {
    const [four, six] = [new ListeningLoop('IPv4'), new ListeningLoop('IPv6')];
    const both = new FamilyLoops([four, six]);
    both.note(['IPv6'], (pending) => pending.serviceChanged('a/b'));
    expect([four.heard(), six.heard()]).toEqual([undefined, services('a/b')]);
    both.note(['IPv4', 'IPv6'], (pending) => pending.serviceChanged('a/b'));
    expect([four.heard(), six.heard()]).toEqual([services('a/b'), services('a/b')]);
    const one = new FamilyLoops([four]);
    one.note(['IPv6'], () => {
      throw new Error('nobody is there');
    });
    expect(four.heard()).toBeUndefined();
  });
});
