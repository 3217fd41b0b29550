/**
 * Replaces what looks like a secret by `…`: keys by the prefix that their issuer gives them, values under names like TOKEN or PASSWORD,
 * passwords in URLs, and long words that no person writes. A few harmless words go with them, which costs a reader less than a key.
 */
export function withoutSecrets(text: string): string {
  return PATTERNS.reduce((rest, [pattern, shown]) => rest.replaceAll(pattern, shown), text);
}

const HIDDEN = "…";

const PATTERNS: readonly (readonly [pattern: RegExp, shown: string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gs, HIDDEN],
  // user:password@ in an address
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/gi, `$1${HIDDEN}@`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9+/=._~-]{8,}/gi, `$1 ${HIDDEN}`],
  // Issuers begin their keys with a word of their own.
  [
    /\b(?:sk|pk|rk|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abeoprs]|npm|pypi|hf|gsk|xai|AIza|AKIA|ASIA|ya29)[-_.]?[A-Za-z0-9_.-]{12,}/g,
    HIDDEN,
  ],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?/g, HIDDEN],
  // NAME=value, "name": "value", the password is value
  [
    /(?<![A-Za-z0-9_.-])([A-Za-z0-9_.-]*(?:[_-]key|apikey|token|secret|passw(?:or)?d|passphrase|credential)[A-Za-z0-9_.-]*["']?\s*(?:=|:|\bis\b)\s*)(?:"[^"]*"|'[^']*'|\S+)/gi,
    `$1${HIDDEN}`,
  ],
  // --name value
  [/(?<!\S)(--?[A-Za-z0-9-]*(?:key|token|secret|passw(?:or)?d)[A-Za-z0-9-]*\s+)\S+/gi, `$1${HIDDEN}`],
  // A word of 24 letters and digits in a row is an id, a hash or a key.
  [
    /(?<![A-Za-z0-9])(?=[A-Za-z0-9+/_-]*[0-9])(?=[A-Za-z0-9+/_-]*[A-Za-z])[A-Za-z0-9+_-]{24,}={0,2}(?![A-Za-z0-9])/g,
    HIDDEN,
  ],
];
