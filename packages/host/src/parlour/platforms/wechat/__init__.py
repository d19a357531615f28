"""WeChat personal accounts over the iLink gateway of Tencent."""
