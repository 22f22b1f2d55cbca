CREATE INDEX reservation_policy_at ON reservation (policy, at);
