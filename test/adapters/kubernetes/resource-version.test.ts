import { isOlder } from '../../../src/adapters/kubernetes/resource-version.js';

describe('resourceVersions', () => {
  it.each([
    ['9', '10', true],
    ['10', '9', false],
    ['10', '10', false],
    ['1234567890123456789', '1234567890123456790', true],
    ['99999999999999999999999999', '100000000000000000000000000', true],
  ])('%s is older than %s: %s', (version, other, older) => expect(isOlder(version, other)).toBe(older));

  it.each([
    ['9', 'abc'],
    ['abc', '9'],
    ['1', '1.5'],
    ['', '5'],
    ['5', ''],
    ['0', '5'],
  ])('%j and %j cannot be compared', (version, other) => expect(isOlder(version, other)).toBe(false));
});
