/** Checks of `quillgate/webhooks` that must pass in every runtime. They use only web standards. */

/** The published test vector of Standard Webhooks. */
const KEY = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID = "msg_p5jXN8AQM9LWM0D4loKWxJek";
const SECONDS = 1_614_265_330;

/** An event with characters outside ASCII, and its signature, computed by OpenSSL. */
const BODY =
  '{"type":"agent_job.completed","timestamp":"2021-02-25T15:02:10.000Z","project":"acme",' +
  '"webhookUrl":"https://hooks.example/é","data":{"id":"j1","status":"completed"}}';
const SIGNATURE = "v1,wKVe1urEawp3nbSWRQS4slA8Qi1WaHHuSO+GLlf6aFI=";

const now = () => SECONDS * 1000;

export async function checkWebhooks({ unwrap, WebhookVerificationError }) {
  const problems = [];
  const expect = async (name, rule, ...args) => {
    const outcome = await unwrap(...args).then(
      ({ data }) => `valid ${data.id}`,
      (error) => (error instanceof WebhookVerificationError ? error.rule : String(error)),
    );
    if (outcome !== rule) problems.push(`${name}: expected ${rule}, found ${outcome}`);
  };
  const fields = {
    "webhook-id": ID,
    "webhook-timestamp": String(SECONDS),
    "webhook-signature": SIGNATURE,
  };
  const bytes = new TextEncoder().encode(BODY);
  await expect("a string", "valid j1", BODY, fields, KEY, { now });
  await expect("bytes", "valid j1", bytes, new Headers(fields), KEY, { now });
  await expect("an ArrayBuffer", "valid j1", bytes.buffer, fields, KEY, { now });
  await expect("a changed body", "signature", BODY.replace("j1", "j2"), fields, KEY, { now });
  await expect("the real clock", "too-old", BODY, fields, KEY);
  return problems;
}
